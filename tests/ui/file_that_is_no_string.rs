use ptx_dsl::include_ptx;

include_ptx!(kernel);

fn main() {}
