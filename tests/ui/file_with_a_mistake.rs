use ptx_dsl::include_ptx;

include_ptx!("file_with_a_mistake.ptx", allow(PTX0517, PTX0402));

fn main() {}
