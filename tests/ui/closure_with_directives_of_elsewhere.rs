use ptx_dsl::ptx;

fn main() {
    let a = ptx!(<sm_90, ptx 8.0> |n: u32| .maxntdi 32 .maxnreg 32 { ret; });
    let b = ptx!(<sm_90, ptx 8.0> |n: u32| .target sm_90 { ret; });
    let c = ptx!(<sm_90, ptx 8.0> |n: u32| { .maxntid 32; ret; });
    let d = ptx!(<sm_90, ptx 8.0> |n: u32| .noreturn { ret; });
    let e = ptx!(<sm_90, ptx 8.0> |n: u32| .reqntid 32 .maxntid 64 { ret; });
}
