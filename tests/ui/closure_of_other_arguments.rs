use ptx_dsl::prelude::*;

fn apply(_: impl Fn(&[f32], u32) -> Result<Report, ptx_dsl::Error>) {}

fn main() {
    let k = ptx!(<sm_90, ptx 8.0> |x: &[u32], n: u32| { ret; });
    apply(k.on(&Host::new(), Launch::grid(1)));
}
