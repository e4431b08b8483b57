//! Kernels that are large in one respect each take time in proportion; what engines do not know is rewritten.

mod stages;

use super::{Places, Source, Text, kernel, rust_name};
use proc_macro2::{Span, TokenStream};
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_image::{Line, for_engines};
use ptx_dsl_isa::hir::{Base, FuncId, Operand, Stmt, VarId};
use std::cell::RefCell;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A kernel with `part` once for each number below `n`, and as many registers.
fn text(n: usize, part: fn(&mut String, usize)) -> String {
    let mut body = String::new();
    (0..n).for_each(|i| part(&mut body, i));
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 d) .reqntid 128\n{{\n\
         .reg .pred %p; .reg .b32 %v<{n}>, %t; .reg .b64 %x;\n\
         ld.param.u64 %x, [d];\nmov.u32 %t, %tid.x;\n{body}\nout:\nst.global.u32 [%x], %t;\nret;\n}}\n"
    )
}

/// Emits the code of a module, and measures the time.
fn take(text: &str) -> (TokenStream, Duration) {
    let (lexed, _) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    assert!(!compiled.failed(), "{:?}", compiled.diagnostics);
    let problems = RefCell::new(Vec::new());
    let source = Source {
        line: &|_| Line::from(1),
        name: &|name, _| name.clone(),
        rust_type: &|_| None,
        file: Some("k.ptx".into()),
        alone: &|name| compiled.entries().alone(name),
        instance: &|_| None,
        places: &Places { rust: &|_| TokenStream::new(), span: &|_| (Span::call_site(), Span::call_site()) },
        problems: &problems,
    };
    let first = (&rust_name("k"), &compiled.hir.functions[0]);
    let constant = Text::new((&compiled.ptx, &compiled.lines), &compiled.hir.constants, first, "1_1".into(), false);
    let start = Instant::now();
    let item = kernel(&compiled.hir, FuncId(0), &source, &constant, false, Some(&TokenStream::new()));
    let code = super::compiled(&compiled.hir, FuncId(0), &source, &constant);
    let time = start.elapsed();
    assert!(!code.is_empty() && !item.is_empty());
    (code, time)
}

type Case = (&'static str, fn(&mut String, usize));

const CASES: &[Case] = &[
    ("branches over what all lanes can compute", |s, i| {
        let _ = writeln!(s, "add.u32 %v{i}, %t, {i}; setp.lt.u32 %p, %t, {i}; @%p bra l{i}; add.u32 %v{i}, %v{i}, 1;");
        let _ = writeln!(s, "add.u32 %t, %t, %v{i}; l{i}: xor.b32 %v{i}, %v{i}, {i};");
    }),
    ("branches over barriers", |s, i| {
        let _ = writeln!(s, "setp.lt.u32 %p, %t, {i}; @%p bra l{i}; add.u32 %t, %t, 3;");
        let _ = writeln!(s, "st.global.u32 [%x], %t; l{i}: bar.sync 0; xor.b32 %t, %t, {i};");
    }),
    ("ways out", |s, i| {
        let _ = writeln!(s, "add.u32 %v{i}, %t, {i}; setp.eq.u32 %p, %t, {i}; @%p bra out; add.u32 %t, %t, %v{i};");
    }),
    ("loops", |s, i| {
        let _ = writeln!(s, "mov.u32 %v{i}, %t; l{i}: add.u32 %t, %t, 3; sub.u32 %v{i}, %v{i}, 1;");
        let _ = writeln!(s, "setp.ne.u32 %p, %v{i}, 0; @%p bra l{i};");
    }),
    ("loads and stores in a row", |s, i| {
        let _ = writeln!(s, "add.u32 %v{i}, %t, {i}; ld.global.u32 %v{i}, [%x+{}]; add.u32 %t, %t, %v{i};", 4 * i);
        let _ = writeln!(s, "st.global.u32 [%x+{}], %t;", 4 * i);
    }),
];

#[test]
fn engines_see_no_constants_of_rust() {
    let text = "<sm_90, ptx 8.0> const N: u32 = x::N; const F: f64 = x::F; .extern .shared .b8 rest[]; .const .b32 c[N]; .global .b32 g[N];
        .func (.reg .b32 %d) f(.reg .b32 %a) { add.u32 %d, %a, N; ret; }
        .visible .entry k() .reqntid N { .reg .b32 %r, %q; .reg .b64 %x; .reg .f32 %f; .shared .align 8 .b8 s[N]; .shared .b32 t[N + 1];
        .local .b32 l[N]; st.local.b32 [l + 4], N; mov.u64 %x, g + N; ld.const.b32 %r, [c + 4]; ld.global.b32 %r, [g];
        mov.u32 %r, N; mov.u32 %q, s; mov.u64 %x, t + N; mov.u32 %q, rest; mov.f32 %f, F; st.shared.b32 [t + 4], N;
        st.shared.v2.b32 [s + N], {N, %r}; call (%r), f, (N); mbarrier.init.shared.b64 [s], N; ret; }";
    let compiled = ptx_dsl_frontend::compile_in_rust(&lex(text).0.tokens, Default::default());
    assert!(!compiled.failed(), "{:?}", compiled.diagnostics);
    let module = for_engines(&compiled.hir);
    let open = |var: VarId| module.vars[var.0 as usize].rust.is_some();
    let mut seen = 0;
    for stmt in module.functions.iter().flat_map(|f| &f.body) {
        let Stmt::Instr(i) = stmt else { continue };
        for arg in &i.operands {
            arg.value.visit(&mut |operand| {
                seen += 1;
                let wrong = match operand {
                    Operand::Rust(_) => true,
                    Operand::VarAddr(var, _) | Operand::Address(Base::Var(var), _) => open(*var),
                    _ => false,
                };
                assert!(!wrong, "{operand:?}");
            });
        }
    }
    assert!(seen > 30 && !module.const_patches.is_empty());
    let ends = module.const_patches.iter().map(|patch| (patch.at + patch.width) as usize).max();
    assert_eq!(ends, Some(module.const_image.len()));
}

#[test]
fn time_grows_with_size_and_not_with_its_square() {
    for (name, part) in CASES {
        let (small, large) = (text(200, *part), text(800, *part));
        // Four times the size may take nine times as long; once more, and again, if it was bad luck.
        let bad = (0..3).all(|_| {
            let (small, large) = (take(&small).1, take(&large).1);
            eprintln!("{name}: {small:?}, then {large:?}");
            large > small * 9 + Duration::from_millis(60)
        });
        assert!(!bad, "{name}");
    }
}

/// rustc takes time with the square of what a function holds, and has no stack for chains of thousands of operators.
#[test]
fn straight_code_becomes_many_functions_and_no_long_chains() {
    let text = text(5000, |s, i| {
        let _ = writeln!(s, "add.u32 %v{i}, %t, {i}; xor.b32 %t, %t, %v{i};");
    });
    let (code, _) = take(&text);
    let pieces = code.to_string().split("Piece for").count();
    assert!(pieces > 10_000 / 500, "{pieces}");
    let chain = code.to_string().split([';', '{', '}']).map(|s| s.matches("&&").count()).max();
    assert!(chain < Some(40), "{chain:?}");
}

/// 1,000 of them take rustc seconds, and took minutes.
#[test]
fn instructions_that_are_alike_share_their_code() {
    type Part = fn(&mut String, usize);
    let cases: [(&str, Part); 4] = [
        ("shfl_sync", |s, i| {
            let _ = writeln!(s, "shfl.sync.idx.b32 %v{i}, %t, 1, 31, %t; xor.b32 %t, %t, %v{i};");
        }),
        // a whole warp does these in a row, 32 at a time
        ("shfl_sync", |s, i| {
            let _ = writeln!(s, "shfl.sync.bfly.b32 %v{i}, %t, 1, 31, -1; xor.b32 %t, %t, %v{i};");
        }),
        ("prmt", |s, i| {
            let _ = writeln!(s, "prmt.b32 %v{i}, %t, %t, 5; xor.b32 %t, %t, %v{i};");
        }),
        ("prefetch", |s, i| {
            let _ = writeln!(s, "prefetch.global.L1 [%x+{}];", 4 * i);
        }),
    ];
    for (function, part) in cases {
        let (small, large) = (take(&text(200, part)).0, take(&text(800, part)).0);
        let dense = large.to_string().split_whitespace().collect::<String>();
        let calls = dense.matches(&format!("::{function}(")).count();
        assert_eq!(calls, 1, "{function}");
        let (small, large) = (small.to_string().len(), large.to_string().len());
        assert!(large < small * 9 / 2, "{function}: {small}, then {large} bytes");
    }
}

#[test]
fn names_are_names_of_rust() {
    let named = |text| rust_name(text).to_string();
    assert_eq!(["k", "match", "self", "$1", "%"].map(named), ["k", "r#match", "self_", "_1", "__"]);
}
