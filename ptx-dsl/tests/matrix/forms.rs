//! Every form of the matrix instructions, as a kernel with its operands.

use super::inputs::{Side, Ty};
use super::kernels::{Kernel, Operand, Wgmma};

/// All forms of a target's `mma`: shape, types of D, A, B and C.
fn products(target: &str) -> Vec<(String, [&'static str; 4], String)> {
    let mut all = Vec::new();
    let mut add = |shape: &str, types: [&'static str; 4], more: &str| {
        all.push((shape.to_string(), types, more.to_string()));
    };
    for d in ["f32", "f16"] {
        for shape in ["m16n8k8", "m16n8k16"] {
            add(shape, [d, "f16", "f16", d], "");
        }
        for a in ["e4m3", "e5m2"] {
            for b in ["e4m3", "e5m2"] {
                for shape in ["m16n8k16", "m16n8k32"] {
                    add(shape, [d, a, b, d], "");
                }
            }
        }
    }
    for shape in ["m16n8k8", "m16n8k16"] {
        add(shape, ["f32", "bf16", "bf16", "f32"], "");
    }
    for shape in ["m16n8k4", "m16n8k8"] {
        add(shape, ["f32", "tf32", "tf32", "f32"], "");
    }
    if target.starts_with("sm_9") {
        for shape in ["m16n8k4", "m16n8k8", "m16n8k16"] {
            for rnd in ["", ".rn", ".rz", ".rm", ".rp"] {
                add(shape, ["f64"; 4], rnd);
            }
        }
    }
    for rnd in ["", ".rn", ".rz", ".rm", ".rp"] {
        add("m8n8k4", ["f64"; 4], rnd);
    }
    for sat in ["", ".satfinite"] {
        for (shapes, types) in
            [(["m8n8k16", "m16n8k16", "m16n8k32"], ["s8", "u8"]), (["m8n8k32", "m16n8k32", "m16n8k64"], ["s4", "u4"])]
        {
            for shape in shapes {
                for a in types {
                    for b in types {
                        add(shape, ["s32", a, b, "s32"], sat);
                    }
                }
            }
        }
    }
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for op in [".xor.popc", ".and.popc"] {
            add(shape, ["s32", "b1", "b1", "s32"], op);
        }
    }
    all
}

/// Rows, columns and depth.
pub fn size(shape: &str) -> [u32; 3] {
    let numbers: Vec<u32> = shape.split(['m', 'n', 'k']).filter_map(|s| s.parse().ok()).collect();
    numbers.try_into().expect("a shape")
}

fn bits(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "f16" | "bf16" => 16,
        "tf32" | "f32" | "s32" => 32,
        "f64" => 64,
        _ => 8,
    }
}

fn ty(name: &str) -> Ty {
    match name {
        "f16" => Ty::F16,
        "bf16" => Ty::Bf16,
        "tf32" => Ty::Tf32,
        "f32" => Ty::F32,
        "f64" => Ty::F64,
        "e4m3" => Ty::E4m3,
        "e5m2" => Ty::E5m2,
        "e3m2" => Ty::E3m2,
        "e2m3" => Ty::E2m3,
        "e2m1" => Ty::E2m1,
        "s32" => Ty::S32,
        _ => Ty::Bits,
    }
}

/// A fragment of this many elements for 32 lanes.
fn fragment(elements: u32, name: &str, side: Side) -> Operand {
    let registers = elements * bits(name) / 32 / if name == "f64" { 64 } else { 32 };
    Operand::Fragment { ty: ty(name), side, registers }
}

/// The kernels of every `mma` of a target.
pub fn mma(target: &'static str) -> Vec<Kernel> {
    let mut all = Vec::new();
    for (shape, [d, a, b, c], more) in products(target) {
        let [m, n, k] = size(&shape);
        let (before, after) = match more.as_str() {
            ".satfinite" | ".rn" | ".rz" | ".rm" | ".rp" => (more.as_str(), ""),
            _ => ("", more.as_str()),
        };
        let instr = format!("mma.sync.aligned.{shape}.row.col{before}.{d}.{a}.{b}.{c}{after}");
        let operands = vec![fragment(m * k, a, Side::A), fragment(n * k, b, Side::B), fragment(m * n, c, Side::C)];
        all.push(Kernel::warp(target, &instr, fragment(m * n, d, Side::C), operands));
    }
    for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
        for layouts in ["row.row", "row.col", "col.row", "col.col"] {
            let instr = format!("mma.sync.aligned.m8n8k4.{layouts}.{d}.f16.f16.{c}");
            let four = Operand::Fragment { ty: Ty::F16, side: Side::A, registers: 2 };
            let b = Operand::Fragment { ty: Ty::F16, side: Side::B, registers: 2 };
            let of = |name: &str| Operand::Fragment {
                ty: ty(name),
                side: Side::C,
                registers: if name == "f16" { 4 } else { 8 },
            };
            all.push(Kernel::warp(target, &instr, of(d), vec![four, b, of(c)]));
        }
    }
    all
}

/// The kernels of every `mma.sp`, with each selector.
pub fn sparse(target: &'static str) -> Vec<Kernel> {
    let mut products: Vec<(&str, [&str; 4], &str)> = Vec::new();
    for d in ["f32", "f16"] {
        for shape in ["m16n8k16", "m16n8k32"] {
            products.push((shape, [d, "f16", "f16", d], ""));
        }
    }
    for shape in ["m16n8k16", "m16n8k32"] {
        products.push((shape, ["f32", "bf16", "bf16", "f32"], ""));
    }
    for shape in ["m16n8k8", "m16n8k16"] {
        products.push((shape, ["f32", "tf32", "tf32", "f32"], ""));
    }
    for sat in ["", ".satfinite"] {
        for (shapes, types) in [(["m16n8k32", "m16n8k64"], ["s8", "u8"]), (["m16n8k64", "m16n8k128"], ["s4", "u4"])] {
            for shape in shapes {
                for a in types {
                    for b in types {
                        products.push((shape, ["s32", a, b, "s32"], sat));
                    }
                }
            }
        }
    }
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            products.push(("m16n8k64", ["f32", a, b, "f32"], ""));
        }
    }
    let mut all = Vec::new();
    for (shape, [d, a, b, c], sat) in products {
        let [m, n, k] = size(shape);
        let row = k * bits(a);
        let selectors = if bits(a) >= 16 { 1024 / row } else { 512 / row };
        for ordered in ["", "::ordered_metadata"] {
            for selector in 0..selectors.max(1) {
                let instr = format!("mma.sp{ordered}.sync.aligned.{shape}.row.col{sat}.{d}.{a}.{b}.{c}");
                let metadata = Operand::Metadata { tf32: a == "tf32", ordered: !ordered.is_empty() };
                let operands = vec![
                    fragment(m * k / 2, a, Side::A),
                    fragment(n * k, b, Side::B),
                    fragment(m * n, c, Side::C),
                    metadata,
                    Operand::Constant(selector.to_string()),
                ];
                all.push(Kernel::warp(target, &instr, fragment(m * n, d, Side::C), operands));
            }
        }
    }
    all
}

/// Matrices of `wmma`, in memory of each warp.
pub fn wmma(target: &'static str) -> Vec<Kernel> {
    let mut products: Vec<(&str, [&str; 4], &str, &str)> = Vec::new();
    for shape in ["m16n16k16", "m8n32k16", "m32n8k16"] {
        for d in ["f32", "f16"] {
            for c in ["f32", "f16"] {
                products.push((shape, [d, "f16", "f16", c], "", ""));
            }
        }
        products.push((shape, ["f32", "bf16", "bf16", "f32"], "", ""));
        for sat in ["", ".satfinite"] {
            for ty in ["s8", "u8"] {
                products.push((shape, ["s32", ty, ty, "s32"], sat, ""));
            }
        }
    }
    products.push(("m16n16k8", ["f32", "tf32", "tf32", "f32"], "", ""));
    for rnd in ["", ".rn", ".rz", ".rm", ".rp"] {
        products.push(("m8n8k4", ["f64"; 4], rnd, ""));
    }
    for sat in ["", ".satfinite"] {
        for ty in ["s4", "u4"] {
            products.push(("m8n8k32", ["s32", ty, ty, "s32"], sat, ""));
        }
    }
    for op in [".xor.popc", ".and.popc"] {
        products.push(("m8n8k128", ["s32", "b1", "b1", "s32"], "", op));
    }
    let mut all = Vec::new();
    for (number, (shape, types, sat, op)) in products.into_iter().enumerate() {
        let layouts: &[[&str; 2]] = if bits(types[1]) < 8 {
            &[["row", "col"]]
        } else {
            &[["row", "row"], ["row", "col"], ["col", "row"], ["col", "col"]]
        };
        for (i, layouts) in layouts.iter().enumerate() {
            let accumulators = [["row", "col"], ["col", "row"], ["row", "row"], ["col", "col"]][(number + i) % 4];
            let types = types.map(|name| (name, ty(name), bits(name)));
            all.push(Kernel::wmma(target, (shape, size(shape)), types, [sat, op], *layouts, accumulators));
        }
    }
    all
}

/// Swizzling mode, transposed, leading and stride offset and start in bytes.
type Descriptor = (u64, bool, u32, u32, u32);

/// `wgmma` in every type, with matrices in several layouts.
pub fn wgmma(target: &'static str) -> Vec<Kernel> {
    let mut all = Vec::new();
    let mut seed = 0usize;
    let plain: &[Descriptor] = &[
        (0, false, 128, 256, 0),
        (1, false, 16, 1024, 0),
        (2, false, 16, 512, 0),
        (3, false, 16, 256, 0),
        (0, false, 1024, 128, 256),
        (1, false, 16, 1024, 32),
        (2, false, 16, 512, 32),
        (1, false, 16, 2048, 1024),
    ];
    let turned: &[Descriptor] = &[
        (0, true, 128, 1024, 0),
        (1, true, 2048, 1024, 0),
        (2, true, 1024, 512, 0),
        (3, true, 512, 256, 0),
        (0, true, 2048, 128, 128),
        (1, true, 4096, 1024, 1024),
    ];
    for sparse in [false, true] {
        for (ns, k, types, wide) in [
            (&[8u32, 24, 64, 136, 256][..], 16, ["f32", "f16", "f16"], true),
            (&[8, 32, 96, 128], 16, ["f16", "f16", "f16"], true),
            (&[8, 40, 64, 256], 16, ["f32", "bf16", "bf16"], true),
            (&[8, 16, 72, 128], 8, ["f32", "tf32", "tf32"], false),
            (&[8, 64, 128], 32, ["f32", "e4m3", "e4m3"], false),
            (&[8, 48], 32, ["f32", "e5m2", "e5m2"], false),
            (&[16, 56], 32, ["f32", "e4m3", "e5m2"], false),
            (&[24], 32, ["f32", "e5m2", "e4m3"], false),
            (&[8, 64], 32, ["f16", "e4m3", "e4m3"], false),
            (&[16], 32, ["f16", "e5m2", "e5m2"], false),
            (&[8], 32, ["f16", "e5m2", "e4m3"], false),
            (&[8], 32, ["f16", "e4m3", "e5m2"], false),
            (&[8, 24, 64, 128], 32, ["s32", "s8", "s8"], false),
            (&[8, 32], 32, ["s32", "u8", "u8"], false),
            (&[16], 32, ["s32", "s8", "u8"], false),
            (&[16], 32, ["s32", "u8", "s8"], false),
            (&[8, 64, 128], 256, ["s32", "b1", "b1"], false),
        ] {
            if sparse && types[1] == "b1" {
                continue;
            }
            for &n in ns {
                for in_registers in [false, true] {
                    for variant in 0..2 {
                        seed += 1;
                        let transposes = [wide && !in_registers && seed % 2 == 1, wide && seed % 3 == 1];
                        let layout =
                            |turn: bool, i: usize| if turn { turned[i % turned.len()] } else { plain[i % plain.len()] };
                        let descriptors = [layout(transposes[0], seed), layout(transposes[1], seed / 2 + variant)];
                        let negate = [seed.is_multiple_of(5), seed.is_multiple_of(7)];
                        let scale_d = !seed.is_multiple_of(6);
                        let sat = types[0] == "s32" && types[1] != "b1" && variant == 1;
                        let wgmma = Wgmma {
                            n,
                            k: if sparse { 2 * k } else { k },
                            d: types[0],
                            types: [types[1], types[2]],
                            in_registers,
                            descriptors,
                            negate,
                            scale_d,
                            saturate: sat,
                            wide,
                            sparse: sparse.then_some(if wide || types[1] == "tf32" { seed as u32 % 2 } else { 0 }),
                        };
                        all.push(Kernel::wgmma(target, &wgmma, types.map(ty)));
                    }
                }
            }
        }
    }
    all
}

/// Loads of 4-bit elements, whose layout no manual has.
pub fn moves(target: &'static str) -> Vec<Kernel> {
    let mut all = Vec::new();
    for (count, num) in [(1, "x1"), (2, "x2"), (4, "x4")] {
        for trans in ["", ".trans"] {
            all.push(Kernel::moves(
                target,
                &format!("ldmatrix.sync.aligned.m8n8.{num}{trans}.shared.b16"),
                count,
                true,
            ));
            all.push(Kernel::moves(
                target,
                &format!("stmatrix.sync.aligned.m8n8.{num}{trans}.shared.b16"),
                count,
                false,
            ));
        }
        all.push(Kernel::moves(target, &format!("ldmatrix.sync.aligned.m8n16.{num}.shared.s8.s4"), count, true));
    }
    all
}
