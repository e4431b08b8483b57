let k = ptx!(<sm_90, ptx 8.0> move |n: u32| { ret; });
