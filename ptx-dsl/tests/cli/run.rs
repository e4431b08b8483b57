//! `ptx-dsl run`. Expected values are computed here; the time of a launch is cut off before comparing.

use super::{expect, here, run};
use std::path::PathBuf;

/// `ptx-dsl run` with these arguments: status, standard output, standard error.
pub fn launch(arguments: &[&str]) -> (i32, String, String) {
    let out = run(&[&["run"], arguments].concat(), b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

/// A file that is removed when the test ends.
pub struct Temporary(PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        Temporary(std::env::temp_dir().join(format!("ptx-dsl-run-{}-{name}", std::process::id())))
    }

    pub fn with(name: &str, bytes: &[u8]) -> Self {
        let file = Temporary::new(name);
        std::fs::write(&file.0, bytes).unwrap();
        file
    }

    pub fn path(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Elements as `--print` shows them, eight on a line.
fn printed<T: std::fmt::Debug>(name: &str, first: usize, values: &[T]) -> String {
    let line = |(i, row): (usize, &[T])| {
        let at = first + 8 * i;
        let row_text: Vec<String> = row.iter().map(|v| format!("{v:?}")).collect();
        format!("{name}[{at}..{}]: {}\n", at + row.len(), row_text.join(" "))
    };
    values.chunks(8).enumerate().map(line).collect()
}

const SAXPY: [&str; 9] =
    ["run/saxpy.ptx", "--grid", "4", "--arg", "a=-0.5", "--arg", "n=1000", "--arg", "x=f32[1024]:iota"];

fn saxpy(more: &[&str]) -> (i32, String, String) {
    launch(&[&SAXPY, more].concat())
}

/// What it computes from `y`.
fn expected(y: impl Fn(usize) -> f32) -> Vec<f32> {
    (0..1024).map(|i| if i < 1000 { (-0.5f32).mul_add(i as f32, y(i)) } else { y(i) }).collect()
}

#[test]
fn what_kernels_want() {
    expect("run-wants.txt", &["run", "run/saxpy.ptx"], b"");
    expect("run-wants-several.txt", &["run", "run/several.ptx"], b"");
    expect("run-wants-one.txt", &["run", "run/several.ptx", "--entry", "copied"], b"");
    expect("run-wants-wide.txt", &["run", "run/wide.ptx"], b"");
    expect("run-missing.txt", &["run", "run/saxpy.ptx", "--arg", "a=1", "--arg", "x=[8]"], b"");
}

/// The words of each command that `run` proposes for a file.
fn proposals(file: &str) -> Vec<Vec<String>> {
    let (_, wants, _) = launch(&[file]);
    let commands = wants.lines().filter_map(|line| line.strip_prefix("ptx-dsl run "));
    commands.map(|line| line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()).collect()
}

#[test]
fn what_is_wanted_runs() {
    for file in ["run/saxpy.ptx", "run/several.ptx", "run/wide.ptx"] {
        for words in proposals(file) {
            let (status, _, stderr) = launch(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(status, 0, "{words:?}\n{stderr}");
        }
    }
}

/// Kernels with `wgmma`, `setmaxnreg`, tensor maps, clusters, named barriers, loops over tiles: what is proposed runs as it stands.
#[test]
fn what_is_wanted_of_many_kernels_runs() {
    // no launch suits them: only their syntax counts, or the host has no textures
    const NEVER: [&str; 9] = [
        "cluster.ptx",
        "mbarrier.ptx",
        "order.ptx",
        "rubin.ptx",
        "tcgen05.ptx",
        "texture_independent.ptx",
        "texture_surface.ptx",
        "loop_of_one_block.ptx",
        "loop_of_two_blocks_and_unreachable_loop.ptx",
    ];
    let tests = here().join("../../../tests");
    let mut ran = 0;
    for folder in ["ptx", "bugs", "diagnostics/clean"] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(tests.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files
            .iter()
            .filter(|file| file.to_str().is_some_and(|name| name.ends_with(".ptx") && !name.contains(".wrong.")))
        {
            let name = file.file_name().unwrap().to_str().unwrap();
            for words in proposals(file.to_str().unwrap()) {
                let words: Vec<&str> = words.iter().map(String::as_str).chain(["--step-limit", "100000"]).collect();
                let (status, _, stderr) = launch(&words);
                assert!(status == 0 || status == 3 && NEVER.contains(&name), "{name}, {status}: {words:?}\n{stderr}");
                ran += usize::from(status == 0);
            }
        }
    }
    assert!(ran > 80, "{ran}");
}

/// The modules of the macros of a Rust file: the one with the kernel runs as it is printed, with its parts.
#[test]
fn kernels_of_a_rust_file() {
    let file = "run/modules.rs";
    let first = ["--entry", "first", "--arg", "x=u32[32]", "--print", "x[0..8]"];
    let (status, stdout, stderr) = launch(&[&[file], &first[..]].concat());
    assert_eq!((status, stdout.as_str()), (0, "x[0..8]: 5 6 7 8 9 10 11 12\n"), "{stderr}");
    let (status, _, stderr) = launch(&[file, "--entry", "second", "--arg", "x=u32[32]"]);
    assert!(status == 3 && stderr.contains("`st.global.u32 [%rd+4096], 1;`"), "{status}: {stderr}");
    assert!(!stderr.contains("modules.rs:"), "lines of the printed module are not those of the file: {stderr}");
    let (status, _, stderr) = launch(&[file]);
    assert_eq!(status, 2);
    assert!(stderr.contains("there are several kernels; choose one with `--entry`: `first`, `second`"), "{stderr}");
    let (status, _, stderr) = launch(&[file, "--entry", "third"]);
    assert!(status == 2 && stderr.contains("has no kernel `third`"), "{stderr}");
    // what is wrong is told of the Rust file
    let (status, _, stderr) = launch(&["kernels.rs", "--entry", "right"]);
    assert!(status == 1 && stderr.contains("kernels.rs:18"), "{stderr}");
    assert!(!stderr.contains("PTX0101"), "{stderr}");
}

/// A whole warpgroup, a box of as many bytes as the object expects, and words in place of bytes.
#[test]
fn what_is_wanted_follows_the_instructions() {
    let head = ".version 8.0\n.target sm_90a\n.address_size 64\n";
    let wants = |body: &str, parameters: &str| {
        let file = Temporary::with(
            "wants.ptx",
            format!("{head}.visible .entry k({parameters})\n{{ {body} ret; }}\n").as_bytes(),
        );
        let (status, stdout, stderr) = launch(&[&file.path()]);
        assert_eq!(status, 0, "{stderr}");
        stdout
    };
    assert!(wants("setmaxnreg.inc.sync.aligned.u32 128;", ".param .u64 x").contains(" --block 128 "));
    assert!(wants("bar.sync 1, 192;", ".param .u64 x").contains(" --block 192 "));
    let copy = ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar; .reg .pred %p; .reg .b64 %m;
        mov.b64 %m, m; cvta.param.u64 %m, %m; mbarrier.init.shared::cta.b64 [bar], 32;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%m, {0, 0}], [bar];
        again: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra again;";
    let shown = wants(copy, ".param .align 64 .b8 m[128]");
    assert!(shown.contains("tensormap(f16[64,64],box=64x1)"), "{shown}");
    // each map has the box of its copies: up to the next place, what is left of the expected bytes, and the distance of two stores
    let copies = ".shared .align 128 .b8 tile[5120]; .shared .align 128 .b8 other[4096]; .shared .align 8 .b64 bar; .reg .pred %p;
        .reg .b64 %a, %b, %c; .reg .b32 %s, %t;
        mov.b64 %a, a; cvta.param.u64 %a, %a; mov.b64 %b, b; cvta.param.u64 %b, %b; mov.b64 %c, c; cvta.param.u64 %c, %c;
        mbarrier.init.shared::cta.b64 [bar], 32; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 5120;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a, {0, 0}], [bar];
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile+1024], [%b, {0, 0}], [bar];
        again: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra again;
        mov.u32 %s, other; ld.shared.u32 %t, [other]; and.b32 %t, %t, 0; add.u32 %s, %s, %t; fence.proxy.async.shared::cta;
        cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%c, {0, 0, 0}], [%s];
        cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%c, {0, 0, 1}], [%s+2048];
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    let parameters = ["a", "b", "c"].map(|name| format!(".param .align 64 .b8 {name}[128]"));
    let shown = wants(copies, &parameters.join(", "));
    for map in [
        "a=tensormap(f16[64,64],box=64x8)",
        "b=tensormap(f16[64,64],box=64x32)",
        "c=tensormap(f16[64,64,64],box=64x16x1)",
    ] {
        assert!(shown.contains(map), "{shown}");
    }
    let stores = ".reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 8, %a;
        st.global.u32 [%a], 1; st.global.f32 [%a + 4], 0f3F800000;";
    let shown = wants(stores, ".param .u64 out");
    assert!(shown.contains("--arg 'out=b32[64]'") && shown.contains("--print 'out[0..8]'"), "{shown}");
}

#[test]
fn initial_values_and_results() {
    let y = expected(|_| 1.0);
    let (status, stdout, stderr) = saxpy(&["--arg", "y=[1024]:ones", "--print", "y[2..21]", "--print", "y[998..1002]"]);
    assert_eq!((status, stdout), (0, printed("y", 2, &y[2..21]) + &printed("y", 998, &y[998..1002])), "{stderr}");
    let summary = stderr.lines().find(|line| line.starts_with("ran `saxpy`: 4 clusters of 1 x 256 threads, "));
    assert!(summary.is_some_and(|line| line.contains(" turns, ") && line.contains(" instructions in ")), "{stderr}");
    // the whole, by positions
    let arguments =
        ["run/saxpy.ptx", "--arg", "0=[4]:2.5", "--arg", "1=[4]:0x40000000", "--arg", "2=2", "--arg", "3=4"];
    let (_, stdout, stderr) = launch(&[&arguments[..], &["--print", "1", "--print", "x[3]"]].concat());
    assert_eq!(stdout, printed("1", 0, &[7.0f32; 4]) + &printed("x", 3, &[2.5f32]), "{stderr}");
}

#[test]
fn tensor_maps() {
    let through = |from: &str, to: &str, more: &[&str]| {
        let (from, to) = (format!("from={from}"), format!("to={to}"));
        launch(&[&["run/tensor.ptx", "--arg", &from, "--arg", &to], more].concat())
    };
    // rows 2 and 3 of a matrix of 8 columns go to the first rows of another
    let to = "tensormap(f32[4,8]:7,box=8x2)";
    let print = ["--arg", "x=null", "--print", "to"];
    let (status, stdout, stderr) = through("tensormap(f32[4,8]:iota,box=8x2)", to, &print);
    let expected: Vec<f32> = (16..32).map(|i| i as f32).chain([7.0; 16]).collect();
    assert_eq!((status, stdout), (0, printed("to", 0, &expected)), "{stderr}");
    // the tensor of another parameter; rows after its end are NaNs
    let of_x = "tensormap(x,dims=8x3,box=8x2,fill=nan)";
    let (status, stdout, stderr) = through(of_x, to, &["--arg", "x=f32[4,8]:1", "--print", "to[6..10]"]);
    assert_eq!((status, stdout.as_str()), (0, "to[6..10]: 1.0 1.0 NaN NaN\n"), "{stderr}");
    for (from, wanted) in [
        ("tensormap(f32[4,8],box=8x300)", "`boxDim[1]` of the tensor map is 300, but must be from 1 to 256"),
        ("tensormap(y,box=8x2)", "has no parameter `y`"),
        ("tensormap(to,box=8x2)", "is not a buffer"),
        ("tensormap(f32[4,8])", "`boxDim` of the tensor map is missing"),
        ("tensormap([4,8],box=8x2)", "the type of the tensor's elements is missing"),
        ("tensormap(@cli.rs,box=8x2)", "the type of the tensor's elements is missing"),
        ("tensormap(f32[4,8],box=8x2,box=8x1)", "two values for `box` of a tensor map"),
    ] {
        let (status, _, stderr) = through(from, "u8[128]", &["--arg", "x=null"]);
        assert!(status == 2 && stderr.contains(wanted), "{from}: {stderr}");
    }
    // the type of the map alone
    let (status, _, stderr) = through("tensormap([128],type=f32,dims=8x4,box=8x2)", to, &["--arg", "x=null"]);
    assert_eq!(status, 0, "{stderr}");
    let (status, stdout, _) = launch(&["run/tensor.ptx"]);
    assert!(status == 0 && stdout.contains("--arg 'from=tensormap(f16[64,64],box=32x1)'"), "{stdout}");
}

#[test]
fn tensor_maps_of_pixels() {
    let copied = |entry: &str, fields: &str| {
        let map = format!("map=tensormap({fields})");
        launch(&["run/pixels.ptx", "--entry", entry, "--arg", &map, "--arg", "y=u32[64]", "--print", "y"])
    };
    // two images of 2 x 4 pixels: after the pixels 6 and 7 those of the next image at the same height; a line of 64 bytes for each, in
    // which the second of two lines exchanges pieces of 16 bytes
    let tensor = "u32[2,2,4,4]:iota,swizzle=64,channels=4,pixels=4";
    let (status, stdout, stderr) = copied("along", &format!("{tensor},mode=im2col::w"));
    let mut expected = [0u32; 64];
    for (i, pixel) in [6, 7, 12, 13].into_iter().enumerate() {
        (0..4).for_each(|c| expected[16 * i + 4 * (i / 2) + c] = 4 * pixel + c as u32);
    }
    assert_eq!((status, stdout), (0, printed("y", 0, &expected)), "{stderr}");
    // one image of two slices of three pixels; the box goes past the last one
    let (status, stdout, stderr) =
        copied("sliced", "u32[1,2,12]:iota,dims=3x2x1,strides=48x96,box=4x1x1,interleave=16");
    let mut expected = [0u32; 64];
    expected[..8].copy_from_slice(&std::array::from_fn::<u32, 8, _>(|i| 16 + i as u32));
    assert_eq!((status, stdout), (0, printed("y", 0, &expected)), "{stderr}");
    for (fields, wanted) in [
        (format!("{tensor},mode=im2col::h"), "it is tile, im2col, im2col::w or im2col::w::128"),
        (format!("{tensor},interleave=64"), "it is 16 or 32"),
        (tensor.into(), "is an im2col one, but the instruction needs an `im2col::w` one"),
    ] {
        let (status, _, stderr) = copied("along", &fields);
        assert!(status != 0 && stderr.contains(wanted), "{fields}: {stderr}");
    }
}

#[test]
fn hosts() {
    let y = expected(|i| i as f32);
    for host in [
        &["--threads", "2"][..],
        &["--seed", "3"],
        &["--seed", "0x3", "--shared", "0x40", "--heap", "0x1000", "--resident", "0x1", "--step-limit", "0xffff_ffff"],
        &["--checked"],
        &["--explore", "3"],
        &["--checked", "--explore", "2"],
    ] {
        let (status, stdout, stderr) = saxpy(&[host, &["--arg", "y=[1024]:iota", "--print", "y"]].concat());
        assert_eq!((status, stdout), (0, printed("y", 0, &y)), "{host:?}: {stderr}");
    }
    let (_, _, stderr) = saxpy(&["--arg", "y=[1024]", "--explore", "3"]);
    assert!(stderr.starts_with("ran `saxpy` under 3 schedules: 12 clusters of 1 x 256 threads, "), "{stderr}");
}

#[test]
fn files_of_numpy() {
    let y: Vec<f32> = (0..1024).map(|i| 1.0 / (1 + i) as f32).collect();
    let bytes = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    // as NumPy writes `y.reshape(32, 32)`
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }";
    let header = [&b"\x93NUMPY\x01\x00v\x00"[..], format!("{header:<117}\n").as_bytes()].concat();
    let input = Temporary::with("in.npy", &[&header[..], &bytes(&y)].concat());
    let output = Temporary::new("out.npy");
    let (status, _, stderr) =
        saxpy(&["--arg", &format!("y=@{}", input.path()), "--out", &format!("y={}", output.path())]);
    assert_eq!(status, 0, "{stderr}");
    let written = output.bytes();
    let (header, data) = written.split_at(written.len() - 4096);
    assert_eq!(data, bytes(&expected(|i| y[i])));
    let text = String::from_utf8_lossy(header);
    assert!(header.starts_with(b"\x93NUMPY\x01\x00") && header.len().is_multiple_of(64), "{text}");
    assert!(text.contains("'descr': '<f4'") && text.contains("'fortran_order': False"), "{text}");
    assert!(text.contains("'shape': (32, 32"), "{text}");
}

/// A file as NumPy writes it.
fn array(descr: &str, count: usize, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    [&b"\x93NUMPY\x01\x00v\x00"[..], format!("{header:<117}\n").as_bytes(), data].concat()
}

#[test]
fn arrays_of_other_types() {
    let integers = Temporary::with("i8.npy", &array("<i8", 4, &[1i64, 2, 3, 4].map(i64::to_le_bytes).concat()));
    let short = Temporary::with("i4.npy", &array("<i4", 4, &[1i32, 2, 3, 4].map(i32::to_le_bytes).concat()));
    let doubles = Temporary::with("f8.npy", &array("<f8", 4, &[1f64, 2.0, 3.0, 4.0].map(f64::to_le_bytes).concat()));
    let flags = Temporary::with("b1.npy", &array("|b1", 4, &[1, 0, 1, 1]));
    let run = |kernel: &str, file: &Temporary, ty: &str| {
        let x = format!("x=@{}{ty}", file.path());
        launch(&["run/arrays.ptx", "--entry", kernel, "--block", "4", "--arg", &x, "--arg", "y=[4]", "--print", "y"])
    };
    for (kernel, file, given, wanted, numpy) in [
        ("integers", &integers, "s64", "s32", "int32"),
        ("integers", &doubles, "f64", "s32", "int32"),
        ("integers", &flags, "u8", "s32", "int32"),
        ("floats", &short, "s32", "f32", "float32"),
        ("floats", &flags, "u8", "f32", "float32"),
        ("bits", &integers, "s64", "b32", "int32"),
    ] {
        let (status, stdout, stderr) = run(kernel, file, "");
        let path = file.path();
        let message = format!(
            "error: `--arg x`: the elements of `{path}` are `.{given}`, but the kernel accesses `.{wanted}`; convert them with \
             NumPy's `.astype(\"{numpy}\")`, or write `x=@{path}:{given}` to pass them as they are\n"
        );
        assert_eq!((status, stdout.as_str(), stderr), (2, "", message));
    }
    // with the type written, the kernel takes words of the eight bytes
    let (status, stdout, stderr) = run("integers", &integers, ":s64");
    assert_eq!((status, stdout), (0, printed("y", 0, &[1, 0, 2, 0])), "{stderr}");
    let (status, stdout, stderr) = run("integers", &short, "");
    assert_eq!((status, stdout), (0, printed("y", 0, &[1, 2, 3, 4])), "{stderr}");
    // a number
    let number = Temporary::with("n.npy", &array("<i8", 1, &4i64.to_le_bytes()));
    let n = format!("n=@{}", number.path());
    let (status, _, stderr) =
        launch(&["run/saxpy.ptx", "--arg", "x=[4]", "--arg", "y=[4]", "--arg", "a=1", "--arg", &n]);
    let help = "are `.s64`, but the kernel wants `.u32`; convert them with NumPy's `.astype(\"uint32\")`\n";
    assert!(status == 2 && stderr.ends_with(help), "{stderr}");
    // accesses of several types, bits of several elements
    assert_eq!(run("mixed", &integers, "").0, 0);
    let halves = Temporary::with("f2.npy", &array("<f2", 8, &[0; 16]));
    assert_eq!(run("bits", &halves, "").0, 0);
    let (status, _, stderr) = run("floats", &halves, "");
    let help = "are `.f16`, but the kernel accesses `.f32`; convert them with NumPy's `.astype(\"float32\")`\n";
    assert!(status == 2 && stderr.ends_with(help), "{stderr}");
    let one_to_four = [0x3c00u16, 0x4000, 0x4200, 0x4400].map(u16::to_le_bytes).concat();
    let halves = Temporary::with("h.npy", &array("<f2", 4, &one_to_four));
    let (status, stdout, stderr) = run("halves", &halves, "");
    assert_eq!((status, stdout), (0, printed("y", 0, &[1, 2, 3, 4])), "{stderr}");
}

#[test]
fn values_of_other_types() {
    let value = |a: &str, n: &str| {
        let (a, n) = (format!("a={a}"), format!("n={n}"));
        launch(&["run/saxpy.ptx", "--arg", "x=[4]:1", "--arg", "y=[4]", "--arg", &a, "--arg", &n, "--print", "y"])
    };
    let (status, _, stderr) = value("1", "f32:4");
    let help = "the kernel wants a value of `.u32`, not of `.f32`; write `n=4` for the number, or `n=b32:0x40800000` for its bits";
    assert!(status == 2 && stderr.contains(help), "{stderr}");
    let (status, _, stderr) = value("1", "f32:0.5");
    assert!(status == 2 && stderr.contains("not of `.f32`; write `n=b32:0x3f000000` for its bits"), "{stderr}");
    let (status, _, stderr) = value("u32:2", "4");
    assert!(status == 2 && stderr.contains("write `a=2` for the number"), "{stderr}");
    let (status, stdout, stderr) = value("b32:0x40000000", "s32:4");
    assert_eq!((status, stdout), (0, printed("y", 0, &[2.0f32; 4])), "{stderr}");
}

#[test]
fn results_are_kept() {
    let file = Temporary::new("kept.bin");
    let out = format!("y={}", file.path());
    // a range that does not fit is noticed before the kernel runs
    let (status, _, stderr) = saxpy(&["--arg", "y=[1024]", "--print", "y[2000]", "--out", &out]);
    assert_eq!((status, stderr.as_str()), (2, "error: `y` has 1024 elements\n"));
    // one file that cannot be written does not keep the others from being written
    let nowhere = ["--out", "x=/no/such/folder/x.npy", "--trace", "/no/such/folder/trace.json"];
    let more = ["--arg", "y=[1024]:1", "--out", &out, "--print", "y[2]"];
    let (status, stdout, stderr) = saxpy(&[&nowhere[..], &more].concat());
    let y = expected(|_| 1.0);
    assert_eq!((status, stdout), (2, printed("y", 2, &y[2..3])), "{stderr}");
    assert_eq!(file.bytes(), y.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
    assert!(stderr.starts_with("ran `saxpy`: "), "{stderr}");
    for failed in ["x.npy", "trace.json"] {
        assert!(stderr.contains(&format!("\nerror: cannot write `/no/such/folder/{failed}`: ")), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn standard_output_that_cannot_be_written() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ptx-dsl"));
    let out = command.args(["run", "run/printf.ptx"]).current_dir(here()).stdout(full).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && stderr.contains("error: cannot write to standard output: "), "{stderr}");
    // bytes of any encoding
    let out = run(&["run", "run/printf.ptx"], b"");
    assert_eq!((out.status.code(), &out.stdout[..]), (Some(0), &b"caf\xe9\n"[..]));
}

#[test]
fn warnings_of_the_chosen_kernel() {
    let unwritten = "{ .reg .b32 %r<3>; add.u32 %r1, %r2, 1; ret; }";
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .func first() {unwritten}\n.func second() {unwritten}\n\
         .visible .entry a() .reqntid 32 {{ call second; ret; }}\n.visible .entry b() .reqntid 32 {unwritten}\n\
         .visible .entry c() .reqntid 32 {{ ret; }}\n"
    );
    // the lines of the warnings
    let lines = |entry: &str| {
        let out = run(&["run", "-", "--entry", entry], text.as_bytes());
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{stderr}");
        (4..10).filter(|line| stderr.contains(&format!("<stdin>:{line}:"))).collect::<Vec<_>>()
    };
    assert_eq!(lines("a"), [5]);
    assert_eq!(lines("b"), [7]);
    assert_eq!(lines("c"), [0; 0]);
}

#[test]
fn an_error_in_another_kernel() {
    let twice = "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;";
    let module = |more: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry a() .reqntid 32 {{ {twice} ret; }}\n\
             .visible .entry b() .reqntid 32 {{ {more} ret; }}\n"
        )
    };
    let status = |arguments: &[&str], more: &str| {
        let out = run(&[&["run", "-"], arguments].concat(), module(more).as_bytes());
        (out.status.code().unwrap(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, stderr) = status(&["--entry", "b"], "");
    assert!(code == 0 && stderr.starts_with("ran `b`"), "{stderr}");
    let (code, stderr) = status(&["--entry", "a"], "");
    assert!(code == 1 && stderr.contains("PTX0611") && !stderr.contains("--entry"), "{stderr}");
    let (code, stderr) = status(&[], "");
    assert!(code == 1 && stderr.contains("PTX0611") && stderr.contains("help: `--entry` runs a kernel"), "{stderr}");
    // an error of the language is one of the whole module
    let (code, stderr) = status(&["--entry", "a"], "add.u32;");
    assert!(code == 1 && stderr.contains("<stdin>:5:"), "{stderr}");
    let (code, stderr) = status(&[], "add.u32;");
    assert!(code == 1 && !stderr.contains("help: `--entry`"), "{stderr}");
}

/// `add(float*)` with a variable `s`, as nvcc names them.
#[test]
fn names_of_cpp() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry _Z3addPf(.param .u64 _Z3addPf_param_0)\n{\n\
        .reg .b32 %r, %s; .shared .align 4 .b8 _ZZ3addPfE1s[64]; mov.u32 %r, %ntid.x; mov.u32 %s, _ZZ3addPfE1s; mad.lo.u32 %r, %r, 64, %s; ld.shared.u32 %r, [%r]; ret;\n}\n\
        .visible .entry _Z3subPf() .reqntid 32 { ret; }\n";
    let run = |arguments: &[&str]| {
        let out = run(&[&["run", "-"], arguments].concat(), text.as_bytes());
        let [stdout, stderr] = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
        (out.status.code().unwrap(), stdout, stderr)
    };
    let (code, wants, stderr) = run(&[]);
    assert!(
        code == 0 && wants.contains("# kernel `add(float*)`\n") && wants.contains("--entry _Z3addPf "),
        "{wants}{stderr}"
    );
    for entry in ["add", "add(float*)", "_Z3addPf"] {
        let (code, _, stderr) = run(&["--entry", entry, "--grid", "1", "--block", "1", "--arg", "0=null"]);
        assert!(code == 3 && stderr.contains("byte 64 of `add(float*)::s` is out of bounds"), "{stderr}");
        assert!(stderr.contains("kernel `add(float*)`") && stderr.contains("`ld.shared.u32 %r, [%r];`"));
    }
    let (_, _, stderr) = run(&["--entry", "div"]);
    assert!(stderr.contains("`add(float*)`, `sub(float*)`"), "{stderr}");
}

#[test]
fn raw_files() {
    let raw: Vec<u8> = (0..1024).flat_map(|i| (i as f32).sqrt().to_le_bytes()).collect();
    let input = Temporary::with("in.bin", &raw);
    let output = Temporary::new("out.bin");
    let out = format!("y={}", output.path());
    for given in ["", ":f32", ":f32[1024]", ":[32,32]"] {
        let (status, _, stderr) = saxpy(&["--arg", &format!("y=@{}{given}", input.path()), "--out", &out]);
        assert_eq!(status, 0, "{given}: {stderr}");
        let expected: Vec<u8> = expected(|i| (i as f32).sqrt()).iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(output.bytes(), expected, "{given}");
    }
    let pair = Temporary::with("pair.bin", &[1.0f32, 3.0].map(f32::to_le_bytes).concat());
    let (status, stdout, stderr) = launch(&[
        "run/several.ptx",
        "--entry",
        "scale",
        "--shared",
        "16",
        "--arg",
        "x=[66]:iota",
        "--arg",
        &format!("factors=@{}", pair.path()),
        "--arg",
        "offset=8",
        "--print",
        "x[0..5]",
    ]);
    assert_eq!((status, stdout), (0, printed("x", 0, &[0.0f32, 1.0, 6.0, 9.0, 12.0])), "{stderr}");
}

#[test]
fn errors_in_the_text() {
    expect("run-wrong.txt", &["run", "run/wrong.ptx"], b"");
    let twice = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() .reqntid 32 {\n\
                 barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }";
    let refused = run(&["run", "-"], twice.as_bytes());
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(1) && stderr.ends_with("help: `--warn PTX0611` runs it all the same\n"),
        "{stderr}"
    );
    let warned = run(&["run", "-", "--warn", "PTX0611"], twice.as_bytes());
    let stderr = String::from_utf8_lossy(&warned.stderr).into_owned();
    assert!(warned.status.code() == Some(3) && stderr.contains("warning[PTX0611]"), "{stderr}");
}

#[test]
fn faults() {
    let fault = |entry: &str, more: &[&str]| launch(&[&["run/faults.ptx", "--entry", entry], more].concat());
    expect("run-fault.txt", &["run", "run/faults.ptx", "--entry", "outside", "--arg", "x=[1]", "--print", "x"], b"");
    expect("run-later.txt", &["run", "run/faults.ptx", "--entry", "later", "--arg", "x=u8[16]"], b"");
    expect("run-located.txt", &["run", "run/located.ptx", "--checked"], b"");
    let (status, _, stderr) = fault("endless", &["--grid", "1", "--step-limit", "5000"]);
    assert!(status == 3 && stderr.contains("not finished after") && stderr.contains("`again`"), "{stderr}");
    assert_eq!(fault("unwritten", &["--arg", "x=[1]"]).0, 0);
    let (status, _, stderr) = fault("unwritten", &["--arg", "x=[1]", "--checked"]);
    assert!(status == 3 && stderr.contains("nothing has written"), "{stderr}");
    let (status, _, stderr) = fault("race", &["--grid", "2", "--arg", "x=[1]", "--explore", "32"]);
    assert!(
        status == 0 && stderr.contains("\nnote: `x` depends on the schedule: it differs with `--seed "),
        "{stderr}"
    );
}

/// Two CTAs add by a load and a store: the report says which store overwrites which. With `atom` nothing depends on the schedule, and a
/// thread that stores what it has not loaded loses nothing.
#[test]
fn lost_updates_are_named() {
    let explored = |name: &str, body: &str| {
        let file = Temporary::with(
            name,
            format!(
                ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
                 .reg .b32 %r<3>; .reg .b64 %rd;\nld.param.u64 %rd, [x];\nmov.u32 %r2, %ctaid.x;\n{body}\nret;\n}}\n"
            )
            .as_bytes(),
        );
        let (status, _, stderr) = launch(&[&file.path(), "--grid", "2", "--arg", "x=u32[1]", "--explore", "64"]);
        assert_eq!(status, 0, "{stderr}");
        stderr
    };
    let update = "ld.relaxed.gpu.global.u32 %r1, [%rd];\nadd.u32 %r1, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd], %r1;";
    let stderr = explored("lost.ptx", update);
    assert!(stderr.contains("note: `x` depends on the schedule"), "{stderr}");
    for part in [
        "an update is lost: `st.relaxed.gpu.global.u32 [%rd], %r1;` (PTX line 11) of warp 0 lane 0 of CTA (",
        "what was loaded by `ld.relaxed.gpu.global.u32 %r1, [%rd];` (PTX line 9); in between `st.relaxed",
        "help: one `atom` or `red` loads and stores at once",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let stderr = explored("kept.ptx", "atom.relaxed.gpu.global.add.u32 %r1, [%rd], 1;");
    assert!(!stderr.contains("note:"), "{stderr}");
    let stderr = explored("last.ptx", "st.relaxed.gpu.global.u32 [%rd], %r2;");
    assert!(stderr.contains("depends on the schedule") && !stderr.contains("lost"), "{stderr}");
}

/// A grid before writes the buffer: what the kernel does with it before `griddepcontrol.wait` is a fault, whatever it reads else.
#[test]
fn buffers_that_the_grid_before_writes() {
    let run = |name: &str, body: &str, more: &[&str]| {
        let file = Temporary::with(
            name,
            format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 w, .param .u64 .ptr \
                 .global .align 4 x) .reqntid 1 {{ .reg .b32 %r<3>; .reg .b64 %w, %x;\nld.param.u64 %w, [w]; ld.param.u64 %x, [x];\n{body}\n\
                 add.u32 %r1, %r1, %r2;\nst.global.u32 [%x], %r1;\nret;\n}}\n"
            )
            .as_bytes(),
        );
        let arguments = ["--arg", "w=u32[1]:ones", "--arg", "x=u32[1]:ones", "--print", "x"];
        let path = file.path();
        launch(&[&[path.as_str()], &arguments[..], more].concat())
    };
    let early = "ld.global.u32 %r1, [%w];\nld.global.u32 %r2, [%x];\ngriddepcontrol.wait;";
    let late = "ld.global.u32 %r1, [%w];\ngriddepcontrol.wait;\nld.global.u32 %r2, [%x];";
    let of_x = ["--written-before", "x"];
    let (status, _, stderr) = run("early.ptx", early, &of_x);
    let wanted = "the thread reads memory before `griddepcontrol.wait` that the grid before it writes";
    assert!(status == 3 && stderr.contains(wanted) && stderr.contains("ld.global.u32 %r2, [%x];"), "{stderr}");
    assert_eq!(run("early-w.ptx", early, &["--written-before", "w"]).0, 3);
    let (status, stdout, stderr) = run("late.ptx", late, &of_x);
    assert_eq!((status, stdout.as_str()), (0, "x[0..1]: 2\n"), "{stderr}");
    let (status, _, stderr) = run("unknown.ptx", late, &["--written-before", "y"]);
    assert!(status == 2 && stderr.contains("`y`"), "{stderr}");
}

/// The runs of an exploration share the buffers to which none has written so far. The first schedules do not write to `late`.
#[test]
fn a_buffer_that_only_some_schedules_write() {
    let arguments = [
        "--arg",
        "input=[1000]:4",
        "--arg",
        "flag=[1]:0",
        "--arg",
        "late=[2]:1",
        "--print",
        "late",
        "--print",
        "input[0..1]",
    ];
    let run = |more: &[&str]| {
        launch(&[&["run/faults.ptx", "--entry", "sometimes", "--grid", "2"], &arguments[..], more].concat())
    };
    let (one, fault) = (run(&["--seed", "0"]), run(&["--explore", "64", "--print", "flag"]));
    assert_eq!((one.0, fault.0), (0, 0), "{}", fault.2);
    assert!(fault.2.contains("note: `late` depends on the schedule"), "{}", fault.2);
    assert!(!fault.2.contains("`input` depends"), "{}", fault.2);
    assert!(fault.1.contains("input[0..1]: 4"), "{}", fault.1);
    for how in [&["--checked", "--explore", "64"][..], &["--explore", "64,pct=2"], &["--explore", "100,exhaustive"]] {
        let (status, _, stderr) = run(how);
        assert!(status == 0 && stderr.contains("note: `late` depends on the schedule"), "{how:?}: {stderr}");
    }
    // the same in each schedule
    let (status, _, stderr) = run(&["--explore", "64", "--resident", "1", "--start-in-order"]);
    assert!(status == 0 && !stderr.contains("depends"), "{stderr}");
}

#[test]
fn a_fault_of_one_schedule() {
    let order = |more: &[&str]| {
        launch(&[&["run/faults.ptx", "--entry", "order", "--grid", "2", "--arg", "x=[1]"], more].concat())
    };
    assert_eq!(order(&[]).0, 0);
    let (status, _, stderr) = order(&["--explore", "64"]);
    assert!(status == 3 && stderr.contains("`trap` executed"), "{stderr}");
    let seed = stderr.split("to see it again: `--seed ").nth(1).and_then(|rest| rest.split('`').next());
    let seed = seed.unwrap_or_else(|| panic!("{stderr}"));
    let (status, _, again) = order(&["--seed", seed]);
    assert!(status == 3 && again.contains("`trap` executed") && again.contains(&format!("`--seed {seed}`")), "{again}");
}

#[test]
fn wrong_arguments() {
    let cases: &[(&[&str], &str)] = &[
        (&["--arg", "y=[4]", "--arg", "z=1"], "no parameter `z`; its parameters are `x`, `y`, `a`, `n`"),
        (&["--arg", "y=[4]", "--arg", "9=1"], "no parameter `9`"),
        (&["--arg", "y=[4]", "--arg", "y=[4]"], "two values for `y`"),
        (&["--arg", "y=[4]", "--arg", "1=[4]"], "two values for `y`"),
        (&["--arg", "y=4"], "`--arg y`: the kernel wants a buffer in global memory, aligned to 4 bytes"),
        (&["--arg", "y=f64[4]"], "`--arg y`: the elements are `.f64`, but the kernel wants `.f32`"),
        (&["--arg", "y=[4]:two"], "`two` is not a value of `.f32`"),
        (&["--arg", "y=[99999999999999999]"], "there is not enough memory"),
        (&["--arg", "y=@no-such-file.npy"], "cannot read `no-such-file.npy`"),
        (&["--arg", "y=@cli.rs"], "no-such"),
        #[cfg(target_os = "linux")]
        (&["--arg", "y=@/dev/zero"], "cannot read `/dev/zero`: it is not a regular file, and has more than 256 MiB"),
        (&["--arg", "y=@run/saxpy.ptx:f64[7]"], "`run/saxpy.ptx`: "),
        (&["--arg", "y=[4]", "--print", "a"], "`a` is not a buffer"),
        (&["--arg", "y=[4]", "--print", "q"], "no parameter `q`"),
        (&["--arg", "y=[1024]", "--print", "y[0..2000]"], "`y` has 1024 elements"),
        (&["--arg", "y=[1024]", "--out", "y=/no/such/folder/y.npy"], "cannot write `/no/such/folder/y.npy`"),
        (&["--arg", "y=@run/saxpy.ptx:f33[4]"], "; `f33[4]` is not a type of elements, such as `f32`"),
        (&["--arg", "y=[4]", "--block", "-1"], "`-1` is not a number"),
        (&["--arg", "y=[4]", "--seed", "0x"], "`0x` is not a number, such as `64` or `0x40`"),
        (&["--arg", "y=[4]", "--shared", "0x1_0000_0000"], "`0x1_0000_0000` is too large"),
        (&["--arg", "y=[4]", "--resident", "0"], "it is 1 or more"),
        (&["--arg", "y=@some.npz"], "`some.npz` is an archive of arrays"),
        (&["--arg", "y=[1024]", "--out", "y=some.npz"], "arrays are written as .npy"),
        (&["--arg", "y=[1024]", "--out", "x=no/such", "--out", "y=no/such"], "two results for the file `no/such`"),
        (&["--arg", "y=[1024]", "--out", "x=no/such", "--trace", "no/such"], "two results for the file `no/such`"),
        (&["--arg", "y=[4]", "--schedule", "foo"], "error: `foo` is not a schedule: it begins with none of"),
        (&["--arg", "y=[1024]", "--block", "512"], "a block of 512 threads, but the kernel says `.maxntid"),
        (&["--arg", "y=[1024]", "--block", "0"], "contain a zero"),
        (&["--arg", "y=[1024]", "--cluster", "3"], "not a multiple of the cluster dimensions"),
        (&["--arg", "y=[1024]", "--entry", "sax"], "the module has no kernel `sax`; its kernels are `saxpy`"),
    ];
    for (arguments, message) in cases {
        let (status, _, stderr) = saxpy(arguments);
        let message = if *message == "no-such" { "cannot read `cli.rs`" } else { message };
        assert!(status == 2 && stderr.contains(message), "{arguments:?}: {status}\n{stderr}");
        assert!(!stderr.contains("error: error: "), "{stderr}");
    }
    for arguments in [
        &["run/saxpy.ptx", "--arg", "x"][..],
        &["run/saxpy.ptx", "--arg", "x=f33[4]"],
        &["run/saxpy.ptx", "--grid", "1,2,3,4"],
        &["run/saxpy.ptx", "--print", "y[3..1]"],
        &["run/saxpy.ptx", "--explore", "0"],
        &["run/several.ptx", "--grid", "1"],
        &["run/several.ptx", "--entry", "copied", "--arg", "0=u8[4]", "--arg", "1=0", "--arg", "2=0"],
        &["no-such-file.ptx"],
        &[],
    ] {
        let (status, _, stderr) = launch(arguments);
        assert!(status == 2 && !stderr.is_empty(), "{arguments:?}: {stderr}");
    }
    let empty = run(&["run", "-"], b".version 8.0\n.target sm_90\n.address_size 64\n");
    assert_eq!(empty.status.code(), Some(2));
    assert!(here().join("run").is_dir());
}

#[test]
fn a_timeline() {
    let file = Temporary::new("trace.json");
    let (status, _, stderr) =
        launch(&["run/faults.ptx", "--entry", "outside", "--arg", "x=[2]", "--trace", &file.path()]);
    assert_eq!(status, 0, "{stderr}");
    let page = Temporary::new("timeline.html");
    let (status, ..) = launch(&["run/faults.ptx", "--entry", "outside", "--arg", "x=[2]", "--timeline", &page.path()]);
    assert!(status == 0 && std::fs::read_to_string(&page.0).unwrap().starts_with("<!DOCTYPE html>"));
    let json = std::fs::read_to_string(&file.0).unwrap();
    assert!(json.contains("\"kernel\":\"outside\"") && json.contains("\"name\":\"warp 0\""), "{json}");
    // of a launch that fails too
    let (status, ..) = launch(&["run/faults.ptx", "--entry", "outside", "--arg", "x=[1]", "--trace", &file.path()]);
    let json = std::fs::read_to_string(&file.0).unwrap();
    assert!(status == 3 && json.contains("the launch fails"), "{json}");
    let (status, _, stderr) =
        launch(&["run/faults.ptx", "--entry", "outside", "--arg", "x=[2]", "--trace", "/nowhere/at/all"]);
    assert!(status == 2 && stderr.contains("cannot write `/nowhere/at/all`"), "{stderr}");
    // the report of a fault stands beside the file that cannot be written
    let (status, _, stderr) =
        launch(&["run/faults.ptx", "--entry", "outside", "--arg", "x=[1]", "--trace", "/nowhere/at/all"]);
    assert!(status == 3 && stderr.contains("cannot write `/nowhere/at/all`"), "{stderr}");
    assert!(stderr.contains("--> kernel `outside`"), "{stderr}");
    let (status, _, stderr) = launch(&["run/faults.ptx", "--trace", "x", "--threads", "2"]);
    assert!(status == 2 && stderr.contains("cannot be used with"), "{stderr}");
}

#[test]
fn strict_shuffles() {
    let tail = ["run/tail.ptx", "--arg", "x=[256]:iota", "--arg", "out=[1]", "--print", "out", "--checked"];
    let (status, stdout, stderr) = launch(&tail);
    assert_eq!((status, stdout.as_str()), (0, "out[0..1]: 28\n"), "{stderr}");
    let (status, _, stderr) = launch(&[&tail[..], &["--strict-shuffles"]].concat());
    assert!(status == 3 && stderr.contains("lane 4 reads from lane 8, which the member mask 0x000000ff"), "{stderr}");
}
