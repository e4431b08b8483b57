include_ptx!("kernel.ptx");
