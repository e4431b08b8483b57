use ptx_dsl::include_ptx;

// Against the manual, and works with today's ptxas: an error only if the class is denied.
include_ptx!("early_read.ptx", deny(protocol));

mod group {
    ptx_dsl::include_ptx!("early_read.ptx", group(strict, PTX0605, PTX0651), deny(strict));
}

mod warned {
    ptx_dsl::include_ptx!("early_read.ptx");
}

fn main() {}
