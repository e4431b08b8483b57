//! Registers of cohorts that part and meet, compared with a value for each lane.

use super::*;
use crate::api::host::Host;
use crate::api::launch::{Launch, grid};
use crate::kernel::KernelInfo;
use ptx_dsl_test_support::random::Random;

const WARPS: usize = 6;
const WIDTHS: [u8; 5] = [32, 1, 64, 16, 32];

/// The expected lanes of each register and warp.
type Model = Vec<[Lanes; WARPS]>;

fn registers() -> Registers {
    let image = Image { registers: WIDTHS.to_vec(), ..Image::default() };
    let (info, host) = (KernelInfo::NONE, Host::new());
    let grid = grid(&info, &Launch::grid(1).block(32 * WARPS as u32), host.options());
    Registers::new(&image, &Geometry::new(&grid), &Constants::default())
}

/// An instruction of the warps `lo..hi` writes a register.
fn write(random: &mut Random, registers: &mut Registers, model: &mut Model, (lo, hi): (usize, usize)) {
    let r = random.below(WIDTHS.len());
    let (bits, v) = (WIDTHS[r], random.below(1 << 20) as u64);
    let low = u64::MAX >> (64 - bits);
    match random.below(3) {
        0 => {
            registers.set_scalar(lo, r as Register, Scalar::Uniform(v & low));
            (lo..hi).for_each(|w| model[r][w] = [v & low; 32]);
        }
        1 if bits >= 32 => {
            registers.set_scalar(lo, r as Register, Scalar::Affine { base: v, x: 4, y: 0 });
            (lo..hi).for_each(|w| model[r][w] = std::array::from_fn(|l| v + 4 * (32 * w + l) as u64));
        }
        _ => {
            registers.set_scalar(lo, r as Register, Scalar::Rows);
            for (w, lanes) in model[r].iter_mut().enumerate().take(hi).skip(lo) {
                *lanes = std::array::from_fn(|l| (v ^ (w * 37 + l) as u64) & low);
                registers.put(r as Register, w, lanes, u32::MAX);
            }
        }
    }
}

#[test]
fn each_warp_keeps_what_it_holds() {
    let mut random = Random::new(7);
    let mut registers = registers();
    for _ in 0..200 {
        // a CTA begins: whole, or with some of its warps
        let mut model: Model = vec![[[0; 32]; WARPS]; WIDTHS.len()];
        let mut whole = random.below(2) == 0;
        if random.below(2) == 0 {
            registers.restart();
        } else {
            registers.reset();
        }
        for _ in 0..30 {
            let lo = if whole { 0 } else { random.below(WARPS) };
            let hi = if whole { WARPS } else { lo + 1 + random.below(WARPS - lo) };
            registers.begin(lo, hi);
            let check = |registers: &Registers, model: &Model| {
                for (r, of_warps) in model.iter().enumerate() {
                    for (w, wanted) in of_warps.iter().enumerate().take(hi).skip(lo) {
                        assert_eq!(
                            registers.lanes(lo, r as Register, w),
                            *wanted,
                            "register {r}, warp {w} of {lo}..{hi}"
                        );
                    }
                }
            };
            check(&registers, &model);
            (0..random.below(4)).for_each(|_| write(&mut random, &mut registers, &mut model, (lo, hi)));
            check(&registers, &model);
            registers.end(lo, hi);
            for (r, of_warps) in model.iter().enumerate() {
                for (w, wanted) in of_warps.iter().enumerate() {
                    assert_eq!(registers.lanes_of_warp(r as Register, w), *wanted, "register {r}, warp {w} at the end");
                }
            }
            whole = random.below(3) == 0;
        }
    }
}
