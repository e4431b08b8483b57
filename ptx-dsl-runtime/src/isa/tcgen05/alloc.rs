//! `tcgen05.alloc`, `.dealloc`, `.relinquish_alloc_permit` (PTX ISA 9.7.16).
