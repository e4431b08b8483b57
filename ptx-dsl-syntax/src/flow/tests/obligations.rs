//! What `tcgen05` instructions owe: PTX0601, PTX0602, PTX0605 to PTX0608.
