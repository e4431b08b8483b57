//! Directives and declarations, with the verdicts of ptxas 13.5.37. Where ours differ, a comment says why.

use super::*;

/// `error PTX0504`, `warning PTX0516`: the findings in a module.
fn findings(module: &str) -> (Vec<String>, Vec<crate::diag::Diagnostic>) {
    super::helps_hold(module);
    let (lexed, early) = lex(module);
    assert!(early.is_empty());
    let mut found = crate::compile(&lexed.tokens).diagnostics;
    found.retain(|d| d.code.number < 600);
    let kind = |s: Severity| if s == Severity::Error { "error" } else { "warning" };
    (found.iter().map(|d| format!("{} PTX{:04}", kind(d.severity), d.code.number)).collect(), found)
}

/// Each row: the replacement for `{}` in `text`, and the findings.
#[track_caller]
fn table(text: &str, rows: &[(&str, &[&str])]) {
    for (row, want) in rows {
        let module = text.replace("{}", row);
        let (got, full) = findings(&module);
        assert_eq!(got, *want, "{row}: {full:#?}");
        // A finding that has an edit says so; here all have one.
        assert!(full.iter().all(|d| !d.helps.is_empty()), "{row}: {full:#?}");
    }
}

const TOP: &str = ".version 9.4\n.target sm_100a\n.address_size 64\n";

#[test]
fn on_an_entry() {
    table(
        &format!("{TOP}.visible .entry k() {{}} {{ ret; }}"),
        &[
            (".maxntid 1024", &[]),
            (".maxntid 0", &["error PTX0504"]),
            (".maxntid 1,2,3,4", &["error PTX0504"]),
            (".maxntid -1", &["error PTX0504"]),
            (".maxntid 4294967296", &["error PTX0504"]),
            (".maxntid", &["error PTX0504"]),
            (".maxntid a", &["error PTX0504"]),
            (".maxntid 1.5", &["error PTX0504"]),
            (".maxntid 16+16", &["error PTX0504"]),
            (".maxntid 0x20", &[]),
            (".maxntid 2048", &["warning PTX0517"]),
            (".maxntid 32 .maxntid 64", &["warning PTX0516"]),
            (".maxntid 32 .reqntid 32", &["error PTX0503"]),
            (".reqntid 32 .maxntid 32", &["error PTX0503"]),
            (".reqntid 0", &["error PTX0504"]),
            // ptxas takes it, and no launch succeeds.
            (".reqntid 2048", &["error PTX0504"]),
            (".maxnreg 0", &["error PTX0504"]),
            (".maxnreg 32, 3", &["error PTX0504"]),
            (".maxnreg 100000", &[]),
            (".minnctapersm 2", &["warning PTX0516"]),
            (".minnctapersm 2 .maxntid 256", &[]),
            (".minnctapersm 0 .maxntid 256", &["error PTX0504"]),
            (".maxnctapersm 2 .maxntid 256", &["error PTX0303"]),
            (".reqnctapercluster 16", &[]),
            // As for `.reqntid 2048`.
            (".reqnctapercluster 17", &["error PTX0504"]),
            (".reqnctapercluster 0", &["warning PTX0516"]),
            (".reqnctapercluster 2 .maxclusterrank 4", &["error PTX0503"]),
            (".maxclusterrank 17", &["warning PTX0517"]),
            (".maxclusterrank 4,2", &["error PTX0504"]),
            (".explicitcluster 3", &["error PTX0504"]),
            (".explicitcluster .explicitcluster .maxclusterrank 2", &[]),
            (".blocksareclusters", &["error PTX0505", "error PTX0505"]),
            (".blocksareclusters .reqntid 32 .reqnctapercluster 2", &[]),
            (".blocksareclusters .maxntid 32 .reqnctapercluster 2", &["error PTX0505"]),
            (".noreturn", &["error PTX0115"]),
            (".abi_preserve 4", &["error PTX0115"]),
            (".minperctamemory 0", &[]),
            (".language 10", &[]),
            (".language \"PTX\", 2", &[]),
            (".language 11", &["error PTX0504"]),
            (".language", &["error PTX0504"]),
            (".pragma \"nounroll\"; .pragma \"x\";", &[]),
            (".pragma 3;", &["error PTX0515"]),
            (".pragma \"mma_throughput\";", &["error PTX0515"]),
            // One report each, though the `;` is one too many.
            (".pragma;", &["error PTX0110"]),
            (".alias a, b;", &["error PTX0115"]),
            (".maxntid 32;", &["error PTX0118"]),
        ],
    );
}

#[test]
fn on_a_func() {
    table(
        &format!("{TOP}.func f() {{}} {{ ret; }}"),
        &[
            (".noreturn", &[]),
            (".noreturn .noreturn", &["error PTX0145"]),
            (".maxntid 32", &["error PTX0115"]),
            (".maxnreg 32", &["error PTX0115"]),
            (".explicitcluster", &["error PTX0115"]),
            (".pragma \"x\";", &["error PTX0115"]),
            (".abi_preserve 300", &[]),
            (".abi_preserve", &["error PTX0504"]),
            (".abi_preserve 4 .abi_preserve 4", &["error PTX0145"]),
            (".abi_preserve_control 11", &[]),
            (".abi_preserve_control 12", &["error PTX0504"]),
            (".language 1", &[]),
        ],
    );
    table(&format!("{TOP}.func (.param .b32 r) f() {{}} {{ ret; }}"), &[(".noreturn", &["error PTX0504"])]);
}

#[test]
fn aliases() {
    table(
        &format!("{TOP}{{}}"),
        &[
            (".func b() { ret; } .func a(); .alias a, b; .entry k() { call a; ret; }", &[]),
            (".func a(); .visible .func b(); .alias a, b;", &[]),
            (".func b() { ret; } .func a(); .func c(); .alias a, b; .alias c, a;", &[]),
            (".func b() { ret; } .alias a, b;", &["error PTX0401"]),
            (".func a() { ret; } .func b() { ret; } .alias a, b;", &["error PTX0510"]),
            (".func a(.param .b32 x); .func b() { ret; } .alias a, b;", &["error PTX0510"]),
            (".entry b() { ret; } .func a(); .alias a, b;", &["error PTX0510"]),
            (".weak .func b() { ret; } .func a(); .alias a, b;", &["error PTX0510"]),
            (".func b() { ret; } .weak .func a(); .alias a, b;", &[]),
            (".func a(); .alias a, a;", &["error PTX0510"]),
            (".func b() { ret; } .func a(); .alias a, b; .alias a, b;", &["error PTX0510"]),
            (".func b() .noreturn { exit; } .func a(); .alias a, b;", &["error PTX0510"]),
            (".global .b32 g; .func a(); .alias a, g;", &["error PTX0403"]),
            (".func a(); .alias a;", &["error PTX0510"]),
            (".alias \"a\", \"b\";", &["error PTX0510"]),
        ],
    );
}

#[test]
fn attributes() {
    table(
        &format!("{TOP}{{}}"),
        &[
            (".global .attribute(.managed) .b32 g;", &[]),
            (".global .attribute(.managed, .unified(19,0xFF)) .b32 g;", &[]),
            (".global .attribute(.unified(19,95)) .attribute(.managed) .b32 g;", &[]),
            (".shared .attribute(.managed) .b32 g;", &["error PTX0513"]),
            (".const .attribute(.managed) .b32 g;", &["error PTX0513"]),
            (".entry k(.param .attribute(.managed) .u64 p) { ret; }", &["error PTX0513"]),
            (".entry k() { .reg .attribute(.managed) .b32 r; ret; }", &["error PTX0513"]),
            (".global .attribute(.unified(1)) .b32 g;", &["error PTX0513"]),
            (".global .attribute(.unified(1,2,3)) .b32 g;", &["error PTX0513"]),
            (".global .attribute(.unified(-1,2)) .b32 g;", &["error PTX0513"]),
            (".global .attribute(.foo) .b32 g;", &["error PTX0513"]),
            (".global .attribute() .b32 g;", &["error PTX0513"]),
            (".func .attribute(.unified(1,2)) f() { ret; }", &[]),
            (".func .attribute(.managed) f() { ret; }", &["error PTX0513"]),
            (".entry .attribute(.unified(1,2)) f() { ret; }", &["error PTX0513"]),
        ],
    );
    let old = ".version 7.8\n.target sm_90\n.address_size 64\n";
    table(
        &format!("{old}{{}}"),
        &[
            (".global .attribute(.unified(1,2)) .b32 g;", &["error PTX0301"]),
            (".entry k() { .pragma \"enable_smem_spilling\"; ret; }", &["error PTX0301"]),
            (".entry k() { .pragma \"used_bytes_mask 15\"; ret; }", &["error PTX0301"]),
        ],
    );
}

#[test]
fn places() {
    table(
        &format!("{TOP}{{}}"),
        &[
            (".maxntid 32", &["error PTX0115"]),
            (".pragma \"enable_smem_spilling\";", &["error PTX0515"]),
            (".entry k() { .pragma \"enable_smem_spilling\"; ret; }", &[]),
            (".entry k() { .pragma \"frequency\"; ret; }", &["error PTX0515"]),
            (".entry k() { .pragma \"frequency 10\"; ret; }", &[]),
            (".entry k() { .file 1 \"a\" ret; }", &["error PTX0115"]),
            (".entry k() { ret; } .version 9.4", &["error PTX0115"]),
            (".global .b32 g; .target sm_100a", &["error PTX0115"]),
            (".local .b32 x;", &["error PTX0509"]),
            (".param .b32 x;", &["error PTX0509"]),
            (".reg .b32 x;", &["error PTX0509"]),
            (".tex .u32 x;", &["error PTX0303"]),
        ],
    );
}

#[test]
fn linkage() {
    table(
        &format!("{TOP}{{}}"),
        &[
            (".common .global .b32 x = 4;", &[]),
            (".common .const .b32 x;", &["error PTX0514"]),
            (".common .func f() { ret; }", &["error PTX0514"]),
            (".extern .visible .global .b32 x;", &["error PTX0514"]),
            (".visible .visible .entry k() { ret; }", &["error PTX0145"]),
            (".extern .func f() { ret; }", &["error PTX0514"]),
            (".extern .global .b32 x = 4;", &["error PTX0514"]),
            (".extern .func f(); .func f() { ret; }", &["error PTX0514"]),
            (".func f() { ret; } .func f();", &["error PTX0511"]),
            (".func f(); .func f(); .visible .func f() { ret; }", &[]),
            (".weak .shared .b32 x;", &[]),
            (".extern .global .b32 x; .extern .global .b32 x; .visible .global .b32 x = 5;", &[]),
            (".global .b32 x; .extern .global .b32 x;", &[]),
            (".extern .global .b32 x[]; .visible .global .b32 x[4];", &[]),
            (".extern .global .b32 x; .global .b32 x;", &["error PTX0402"]),
            (".extern .global .b32 x; .visible .global .b64 x;", &["error PTX0402"]),
            (".extern .global .b32 x[4]; .visible .global .b32 x[8];", &["error PTX0402"]),
            (".weak .global .b32 x; .weak .global .b32 x;", &["error PTX0402"]),
        ],
    );
}

#[test]
fn declarations() {
    table(
        &format!("{TOP}{{}}"),
        &[
            (".global .bf16 x;", &["error PTX0509"]),
            (".func f() { .reg .tf32 x; ret; }", &["error PTX0509"]),
            (".global .e4m3x2 x;", &["error PTX0509"]),
            (".func f() { .reg .f16 x; .reg .f16x2 y; .reg .b8 z; .reg .b128 w; ret; }", &[]),
            (".global .v4 .b64 x;", &["error PTX0509"]),
            (".global .v8 .b32 x;", &["error PTX0509"]),
            (".func f() { .reg .v2 .pred x; ret; }", &["error PTX0509"]),
            (".global .b32 x[0];", &["error PTX0509"]),
            (".extern .global .b32 x[0];", &[]),
            (".global .b32 x[][2] = {{1,2}};", &[]),
            (".extern .global .b32 x[2][];", &["error PTX0509"]),
            (".func f() { .reg .b32 x[3]; ret; }", &["error PTX0509"]),
            (".global .b32 x<2>[2];", &["error PTX0509"]),
            (".global .b32 x = {1};", &["error PTX0508"]),
            (".global .b32 x[2] = 1;", &["error PTX0508"]),
            (".shared .texref x;", &["error PTX0509"]),
            (".entry k(.param .texref x) { ret; }", &[]),
            (".entry k(.param .b8 x[]) { ret; }", &["error PTX0509"]),
            (".func f(.param .b8 x[]) { ret; }", &[]),
            (".func f(.param .b32 x[], .param .b32 y) { ret; }", &["error PTX0509"]),
            (".func (.param .b32 x[]) f() { ret; }", &["error PTX0509"]),
            (".func (.param .b32 x, .param .b32 y) f() { ret; }", &["error PTX0509"]),
            (".entry k(.param .u64 .ptr .global .align 3 x) { ret; }", &["error PTX0509"]),
            (".entry k(.param .u64 .ptr .param .align 4 x) { ret; }", &["error PTX0509"]),
            (".func f(.param .u64 .ptr .global x) { ret; }", &["error PTX0509"]),
            (".entry k(.param .u64 .ptr .align 4 x) { ret; }", &[]),
        ],
    );
}

/// Versions and targets that types need, and versions that exist: the verdicts of ptxas 13.5.
#[test]
fn types_and_versions() {
    let says = |version: &str, target: &str, text: &str| {
        findings(&format!(".version {version}\n.target {target}\n.address_size 64\n{text}")).0
    };
    for text in [
        ".entry k() { .reg .b128 x; ret; }",
        ".global .b128 x;",
        ".entry k() { .shared .b128 x, y; ret; }",
        ".entry k(.param .b128 x) { ret; }",
    ] {
        assert_eq!(says("8.3", "sm_70", text), [""; 0], "{text}");
        assert_eq!(says("8.2", "sm_70", text), ["error PTX0301"], "{text}");
        assert_eq!(says("8.3", "sm_60", text), ["error PTX0302"], "{text}");
    }
    let half = ".entry k() { .reg .f16x2 x; ret; }";
    assert_eq!(says("4.2", "sm_53", half), [""; 0]);
    assert_eq!(says("8.3", "sm_52", half), ["error PTX0302"]);
    for (version, known) in
        [("8.8", true), ("8.9", false), ("7.8", true), ("7.9", false), ("3.3", false), ("9.5", true), ("9.6", false)]
    {
        let found = says(version, "sm_30", ".entry k() { ret; }");
        assert_eq!(found.is_empty(), known, "{version}: {found:?}");
    }
    assert_eq!(says("9.0", "sm_90", ".entry k() .maxntid WARP_SZ .maxnreg WARP_SZ { ret; }"), [""; 0]);
}

#[test]
fn levels_of_the_header() {
    let kernel = ".visible .entry k() .minnctapersm 2 { ret; }";
    let head = |levels: &str| findings(&format!("<sm_90, ptx 8.0{levels}> {kernel}")).0;
    assert_eq!(head(""), ["warning PTX0516"]);
    assert_eq!(head(", allow(PTX0516)"), [""; 0]);
    assert_eq!(head(", deny(PTX0516)"), ["error PTX0516"]);
    assert_eq!(head(", allow(PTX0516), warn(PTX0516, PTX0517)"), ["warning PTX0516"]);
    assert_eq!(head(", allow(PTX0207)"), ["error PTX0133", "warning PTX0516"]);
    assert_eq!(head(", allow(516)"), ["error PTX0110", "warning PTX0516"]);
    // Classes, and groups of one's own.
    assert_eq!(head(", deny(suspicious)"), ["error PTX0516"]);
    assert_eq!(head(", deny(warnings)"), ["error PTX0516"]);
    assert_eq!(head(", deny(protocol)"), ["warning PTX0516"]);
    assert_eq!(head(", group(a, PTX0620), group(b, PTX0516, a), deny(PTX0620, b)"), ["error PTX0516"]);
    assert_eq!(head(", deny(strict)"), ["error PTX0110", "warning PTX0516"]);
    assert_eq!(head(", deny(illegal)"), ["error PTX0110", "warning PTX0516"]);
    assert_eq!(head(", group(protocol, PTX0620)"), ["error PTX0110", "warning PTX0516"]);
}

#[test]
fn an_unfinished_statement_is_reported_once() {
    let body = |text: &str| findings(&format!("{TOP}.entry k() {{ .reg .b32 r; {text} }}")).0;
    assert_eq!(body("ld.global.u32\n add.u32 r, r, 1;"), ["error PTX0111"]);
    assert_eq!(body("ld.global.u32"), ["error PTX0111"]);
    assert_eq!(body("ld.global.u32;"), ["error PTX0404"]);
}

/// A `.loc` with `inlined_at` follows a `.loc` of that place, in this function or an earlier one.
#[test]
fn inlined_at_names_a_place_before() {
    let module = |first: &str, second: &str| {
        format!(
            ".version 9.5\n.target sm_80\n.address_size 64\n.visible .entry a() {{ {first} ret; }}\n\
             .visible .entry b() {{ {second} ret; }}\n.file 1 \"a.cu\"\n.section .debug_str {{ L1: .b8 95,0 }}\n"
        )
    };
    let inlined = ".loc 1 2 3, function_name L1, inlined_at 1 1 1";
    for (first, second, right) in [
        (".loc 1 1 1", inlined, true),
        ("", ".loc 1 1 1 .loc 1 2 3, function_name L1, inlined_at 1 1 1", true),
        (".loc 1 1 1 .loc 1 2 3, function_name L2, inlined_at 1 1 1", "", false),
        (".loc 1 1 2", inlined, false),
        (inlined, ".loc 1 1 1", false),
    ] {
        super::helps_hold(&module(first, second));
        let (lexed, _) = crate::lex::lex(&module(first, second));
        let codes: Vec<u32> = crate::compile(&lexed.tokens).diagnostics.iter().map(|d| d.code.number.into()).collect();
        assert_eq!(codes, if right { vec![] } else { vec![515] }, "{first} {second}");
    }
}

#[test]
fn a_parameter_without_its_state_space() {
    let module = format!("{TOP}.visible .entry k(.param .u32 n, .u64 a) {{ ret; }}");
    let found = findings(&module).1;
    let text = "expected a parameter, which begins with `.param` or `.reg`, found `.u64`";
    let help = "begin it with `.param` and a type";
    assert_eq!(
        found.iter().map(|d| (d.message.as_str(), d.helps.join("; "))).collect::<Vec<_>>(),
        [(text, help.to_owned())]
    );
}
