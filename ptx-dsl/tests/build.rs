//! `ptx_dsl::build`: the files, and what a C compiler says of the header.

use ptx_dsl::build::{Error, Kernels};
use ptx_dsl::load::{Level, Selector};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("ptx-dsl-build-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const RUST: &str = r#"
    use ptx_dsl::prelude::*;
    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry first(
            .param .u64 .ptr .global .align 4 x: &mut [f32],
            .param .u8 flag,
            .param .align 16 .b8 map[24],
            .param .s16 h,
            .param .f64 d) .reqntid 64, 2 .reqnctapercluster 2 { ret; }
        const BARRIERS: u32 = 2;
        .visible .entry $second() .maxntid 32, 4 .minnctapersm 3 { @for I in 0..BARRIERS { bar.sync I; } ret; }
    }
    fn f() { let _ = ptx!(<sm_90, ptx 8.0> |n: u32| { ret; }); }
    ptx! { <sm_80, ptx 7.0> .global .u32 g; .visible .entry third(.param .u32 int, .param .u32 a$b, .param .u32 a_b) { ret; } }
"#;

#[test]
fn files_and_header() {
    let out = folder("files");
    let source = file(&out, "a-b.rs", RUST);
    let written = Kernels::new().file(&source).write(&out).unwrap();
    let names: Vec<&str> = written.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a-b_1.ptx", "a-b_2.ptx", "a-b.h"]);
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert!(text("a-b_1.ptx").starts_with(".version 8.0\n.target sm_90\n"));
    assert!(text("a-b_1.ptx").contains("bar.sync 0;\n    bar.sync 1;\n    ret;"));
    assert!(text("a-b_2.ptx").contains(".visible .entry third("));

    let header = text("a-b.h");
    let begin = header.find("\n#define first_NAME").unwrap();
    let end = begin + header[begin..].find("\n/*").unwrap();
    assert_eq!(
        &header[begin..end],
        r#"
#define first_NAME "first"
#define first_BLOCK_X 64
#define first_BLOCK_Y 2
#define first_BLOCK_Z 1
#define first_CLUSTER_X 2
#define first_CLUSTER_Y 1
#define first_CLUSTER_Z 1
#define first_PARAMS_SIZE 56
struct first_params {
    PTX_DSL_ALIGN(8) uint64_t x;
    PTX_DSL_ALIGN(1) uint8_t flag;
    PTX_DSL_ALIGN(16) uint8_t map[24];
    PTX_DSL_ALIGN(2) int16_t h;
    PTX_DSL_ALIGN(8) double d;
};
PTX_DSL_CHECK(offsetof(struct first_params, x) == 0);
PTX_DSL_CHECK(offsetof(struct first_params, flag) == 8);
PTX_DSL_CHECK(offsetof(struct first_params, map) == 16);
PTX_DSL_CHECK(offsetof(struct first_params, h) == 40);
PTX_DSL_CHECK(offsetof(struct first_params, d) == 48);

#define _second_NAME "$second"
#define _second_MAX_THREADS 128
#define _second_MIN_CTAS 3
#define _second_PARAMS_SIZE 0
"#
    );
    // The compiler agrees with the places of the parameters, and the text is that of the file.
    let program = format!(
        "#include \"a-b.h\"\n#include <stdio.h>\n#include <string.h>\n\
         int main(void) {{ struct first_params p = {{1, 2, {{3}}, 4, 5.0}}; fputs(a_b_1_ptx, stdout);\n\
         return p.h == 4 && strlen(a_b_2_ptx) == {} ? 0 : 1; }}\n",
        text("a-b_2.ptx").len()
    );
    let source = file(&out, "main.c", &program);
    let compile = |compiler: &[&str]| {
        let mut command = Command::new(compiler[0]);
        command.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror", "-o"]).arg(out.join("main")).arg(&source);
        let result = command.output().unwrap_or_else(|e| panic!("{compiler:?}: {e}"));
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
        let run = Command::new(out.join("main")).output().unwrap();
        assert!(run.status.success());
        assert_eq!(String::from_utf8_lossy(&run.stdout), text("a-b_1.ptx"));
    };
    compile(&["cc", "-std=c11", "-Wno-unused-const-variable"]);
    compile(&["cc", "-xc++", "-std=c++14", "-Wno-unused-variable"]);
    std::fs::remove_dir_all(out).unwrap();
}

/// Each kernel alone, as a file and in the header.
#[test]
fn kernels_alone() {
    let out = folder("alone");
    let source = file(&out, "k.rs", RUST);
    let written = Kernels::new().file(&source).entries().write(&out).unwrap();
    let names: Vec<&str> = written.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["k_1.ptx", "k_1.first.ptx", "k_1.$second.ptx", "k_2.ptx", "k_2.third.ptx", "k.h"]);
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(
        text("k_1.$second.ptx"),
        ".version 8.0\n.target sm_90\n.address_size 64\n\n.visible .entry $second()\n.maxntid 32, 4\n.minnctapersm 3\n{\n    bar.sync 0;\n    \
         bar.sync 1;\n    ret;\n}\n"
    );
    assert!(text("k_1.first.ptx").contains("first(") && !text("k_1.first.ptx").contains("second"));
    assert!(text("k_2.third.ptx").contains("third(") && !text("k_2.third.ptx").contains(".global .u32 g"));
    assert!(text("k.h").contains("static const char first_ENTRY_ptx[] =\n    \".version 8.0\\n\""));
    std::fs::remove_dir_all(out).unwrap();
}

#[test]
fn errors() {
    let out = folder("errors");
    let write =
        |name: &str, text: &str| Kernels::new().file(file(&out, name, text)).write(&out).map_err(|e| e.to_string());
    let wrong = write("wrong.rs", "ptx! {\n  <sm_90, ptx 8.0>\n  .visible .entry k() { rex; ret; }\n}").unwrap_err();
    assert!(wrong.contains("wrong.rs:3:25") && wrong.contains("error[PTX"), "{wrong}");
    // only rustc evaluates it
    let constant =
        "ptx! {\n  <sm_90, ptx 8.0>\n  const N: u32 = crate::N;\n  .visible .entry k() .reqntid N { ret; }\n}";
    let unknown = write("constant.rs", constant).unwrap_err();
    assert!(unknown.contains("PTX0156") && unknown.contains("constant.rs:3:9"), "{unknown}");
    assert!(unknown.contains("declare `N` with a number: `const N: u32 = 16;`"), "{unknown}");
    let parameter = "ptx! {\n  <sm_90, ptx 8.0>\n  .visible .entry k<const N: u64>() { ret; }\n}";
    let unknown = write("parameter.rs", parameter).unwrap_err();
    assert!(unknown.contains("PTX0156") && unknown.contains("parameter.rs:3:27"), "{unknown}");
    assert!(unknown.contains("list the values of `N`: `<const N: u64 in [16]>`"), "{unknown}");
    // what the helps say
    assert!(write("right.rs", &constant.replace("crate::N", "16")).is_ok());
    assert!(write("listed.rs", &parameter.replace("u64>", "u64 in [16]>")).is_ok());
    assert!(write("none.rs", "fn f() {}").unwrap_err().ends_with("none.rs` has no `ptx!` in item form"));
    assert!(write("no.rs", "fn f( {").unwrap_err().contains("no.rs`: this is not Rust"));
    let error = Kernels::new().file(out.join("missing.ptx")).write(&out).unwrap_err();
    let Error::File(path, cause) = &error else { panic!("{error}") };
    assert_eq!((path, cause.kind()), (&out.join("missing.ptx"), std::io::ErrorKind::NotFound));
    let source = std::error::Error::source(&error).expect("a cause").to_string();
    assert_eq!(source, cause.to_string());
    assert!(!error.to_string().contains(&source) && format!("{error:?}").ends_with(&source), "{error:?}");
    let twice = Kernels::new().file(file(&out, "k.ptx", TWICE)).file(out.join("k.rs"));
    assert!(matches!(twice.write(&out), Err(Error::Text(_))));
    let twice = twice.level(Level::Allow, Selector::Code(611));
    assert!(matches!(twice.write(&out), Err(Error::SameName(..))));
    std::fs::remove_dir_all(out).unwrap();
}

const TWICE: &str = ".version 8.0 .target sm_90 .address_size 64
    .visible .entry k() { barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }";

/// A module of a build script sees the parts of its own file.
#[test]
fn parts_of_the_file() {
    let out = folder("parts");
    let part = "ptx! { <sm_90, ptx 8.0> pub part ones { const ONE: u32 = 1; .inline one(.reg .b32 %r) { mov.u32 %r, ONE; } } }";
    let kernel =
        "ptx! { <sm_90, ptx 8.0> use crate::ones; .visible .entry k() { .reg .b32 %r; ones::one!(%r); ret; } }";
    let source = file(&out, "k.rs", &format!("{part}\n{kernel}"));
    let written = Kernels::new().file(&source).write(&out).unwrap();
    assert_eq!(written.len(), 2, "{written:?}");
    let text = std::fs::read_to_string(&written[0]).unwrap();
    assert!(text.contains("mov.u32 %r, 1;"), "{text}");

    let source = file(&out, "alone.rs", kernel);
    let error = Kernels::new().file(&source).write(&out).unwrap_err();
    assert!(matches!(&error, Error::NoPart(_, name) if name == "ones"), "{error}");

    // parts of another file, which use parts of a third
    let use_ones = "ptx! { <sm_90, ptx 8.0> use crate::ones; part twos { .inline two(.reg .b32 %r) { ones::one!(%r); add.u32 %r, %r, %r; } } }";
    let (twos, ones) = (file(&out, "twos.rs", use_ones), file(&out, "ones.rs", part));
    let kernel = "ptx! { <sm_90, ptx 8.0> use other::twos as doubles; .visible .entry k() { .reg .b32 %r; doubles::two!(%r); ret; } }";
    let source = file(&out, "user.rs", kernel);
    let kernels = Kernels::new().parts(&twos).parts(&ones).file(&source);
    let written = kernels.write(&out).unwrap();
    let text = std::fs::read_to_string(&written[0]).unwrap();
    assert!(text.contains("mov.u32 %r, 1;") && text.contains("add.u32 %r, %r, %r;"), "{text}");
    // an error that a piece of another file causes is where it is used, and says where it is there
    let wrong = "// a comment\n\nptx! {\n    <sm_90, ptx 8.0>\n    part wrong {\n        .inline one(.reg .b32 %r) { mov.u32 %r, %q; }\n    }\n}";
    let kernel =
        "ptx! { <sm_90, ptx 8.0> use other::wrong; .visible .entry k() { .reg .b32 %r; wrong::one!(%r); ret; } }";
    let wrong_file = file(&out, "wrong.rs", wrong);
    let user = file(&out, "u.rs", kernel);
    let Err(Error::Text(error)) = Kernels::new().parts(&wrong_file).file(&user).write(&out) else {
        panic!("an error of the part");
    };
    let place = &error.findings[0].place;
    assert_eq!((place.file.as_str(), place.line, place.column), (&*user.display().to_string(), 1, 79), "{error}");
    assert!(
        error.to_string().contains(&format!("{}:6:49: it is here in `wrong::one`", wrong_file.display())),
        "{error}"
    );
    let Err(Error::Text(error)) = Kernels::new().file(file(&out, "one.rs", &format!("{kernel}\n{wrong}"))).write(&out)
    else {
        panic!("an error of the part");
    };
    let place = &error.findings[0].place;
    assert!(place.file.ends_with("one.rs") && (place.line, place.column) == (1, 79), "{error}");

    // a piece of the module is checked by itself, once, and sees no constant of the kernel that uses it
    let own = "ptx! {\n <sm_90, ptx 8.0> use other::ones;\n .inline add(.reg .b32 %r) { add.u32 %r, %r, N; }\n\
               .visible .entry k() { const N: u32 = 4; .reg .b32 %r; ones::one!(%r); add!(%r); ret; } }";
    let ones = Kernels::new().parts(&ones);
    let Err(Error::Text(error)) = ones.clone().file(file(&out, "own.rs", own)).write(&out) else {
        panic!("an error of the piece");
    };
    let places: Vec<_> = error.findings.iter().map(|d| (d.code, d.place.line, d.place.column)).collect();
    assert_eq!(places, [(401, 3, 46)], "{error}");
    let right = own.replace("const N: u32 = 4;", "").replace(".inline", "const N: u32 = 4; .inline");
    assert!(ones.file(file(&out, "right.rs", &right)).write(&out).is_ok());

    let error = kernels.parts(file(&out, "more.rs", part)).write(&out).unwrap_err();
    assert!(matches!(&error, Error::SeveralParts(_, name) if name == "ones"), "{error}");
}

#[cfg(feature = "cuda")]
mod of_this_file {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_80, ptx 7.8>
        const STEP: u32 = 3;
        .visible .entry of_this_file(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n) .reqntid 32 {
            .reg .b32 %i;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            mov.u32 %i, %tid.x;
            mad.wide.u32 %x, %i, 4, %x;
            st.global.u32 [%x], STEP;
            ret;
        }
    }
}

/// A program finds machine code by the text of its modules, so the build must write the text that the macro has.
#[cfg(feature = "cuda")]
#[test]
fn cubins_are_those_of_the_texts_of_the_macro() {
    let out = folder("cubins");
    let this = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("build.rs");
    let written = Kernels::new().file(&this).cubins(["sm_80", "sm_75"]).write(&out).unwrap();
    let names: Vec<&str> = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(std::fs::read_to_string(out.join("build.ptx")).unwrap(), of_this_file::of_this_file::PTX);
    let list = std::fs::read_to_string(out.join("cubins.rs")).unwrap();
    let hash = ptx_dsl::__private::device::text_hash(of_this_file::of_this_file::PTX);
    if names.contains(&"build.sm_80.cubin") {
        // sm_75 cannot run a module for sm_80
        assert_eq!(names, ["build.ptx", "build.h", "build.sm_80.cubin", "cubins.rs"]);
        let line = format!("::ptx_dsl::cuda::Cubin::new(\"sm_80\", {hash:#x}, include_bytes!(\"build.sm_80.cubin\")),");
        assert_eq!(list, format!("[\n    {line}\n]\n"));
        assert!(std::fs::read(out.join("build.sm_80.cubin")).unwrap().starts_with(b"\x7fELF"));
    } else {
        println!("no ptxas here: the list is empty");
        assert_eq!(list, "[\n]\n");
    }
}
