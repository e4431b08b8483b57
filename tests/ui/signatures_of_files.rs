use ptx_dsl::include_ptx;

mod types {
    ptx_dsl::include_ptx!("kernels_of_signatures.ptx", fn k(x: &mut [f32], n: u64, half: &[f32]));
}

mod numbers {
    ptx_dsl::include_ptx!("kernels_of_signatures.ptx", fn k(x: &mut [f32]), fn missing(), fn l() -> u32);
}

mod stores {
    ptx_dsl::include_ptx!("kernels_of_signatures.ptx", fn k(x: &[f32], n: u32, half: u16));
}

mod elements {
    ptx_dsl::include_ptx!("kernels_of_signatures.ptx", deny(PTX0158), fn k(x: &mut [f64], n: u32, half: u16));
}

mod order {
    ptx_dsl::include_ptx!(
        "kernels_of_signatures.ptx",
        fn k(k_param_0: &mut [f32], k_param_2: u32, k_param_1: u16)
    );
}

mod names_of_its_own {
    ptx_dsl::include_ptx!("kernels_of_signatures.ptx", fn k(x: &mut [f32], k_param_1: u32, _: u16));
}

include_ptx!("kernels_of_signatures.ptx", fn (x: u32));

fn main() {}
