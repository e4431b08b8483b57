//! The files of `check` and `fmt`: parts in other files, folders, patterns, and the layout of statements on several lines.

use super::{expect, run};

/// The findings as JSON, and the status.
fn found(arguments: &[&str]) -> (Vec<String>, i32) {
    let out = run(&[&["check", "--message-format", "json"], arguments].concat(), b"");
    let lines = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    (lines, out.status.code().unwrap_or(-1))
}

/// How many findings have this code.
fn with(lines: &[String], code: &str) -> usize {
    lines.iter().filter(|line| line.contains(&format!("\"code\":\"{code}\""))).count()
}

/// Parts are found by the modules of the crate, although another module has a part of the same name.
#[test]
fn parts_of_the_crate() {
    expect("check-linked.txt", &["check", "linked/kernels.rs"], b"");
    // an error of a part is reported once, with the file that has it
    expect(
        "check-linked.json",
        &["check", "--message-format", "json", "linked/kernels.rs", "linked/hopper/parts.rs"],
        b"",
    );
}

/// Parts of one name in two modules, one of them under another name.
#[test]
fn parts_with_other_names() {
    assert_eq!(found(&["linked/twins.rs"]), (Vec::new(), 0));
    let printed = run(&["print", "linked/twins.rs"], b"");
    assert!(String::from_utf8_lossy(&printed.stdout).contains("sub.u32"));
}

/// A part that is not found is an error in text and in JSON; what does not depend on it is checked.
#[test]
fn parts_that_are_not_found() {
    expect("check-missing.txt", &["check", "linked/missing.rs"], b"");
    let (lines, status) = found(&["linked/missing.rs"]);
    assert_eq!((with(&lines, "PTX0170"), with(&lines, "PTX0201"), lines.len(), status), (1, 1, 2, 1), "{lines:?}");
    // another file that is given has it
    let (lines, status) = found(&["linked/missing.rs", "linked/pipe.rs"]);
    assert_eq!((with(&lines, "PTX0201"), lines.len(), status), (1, 1, 1), "{lines:?}");
    // the level of the finding can be set, those of the others cannot
    let (lines, status) = found(&["linked/missing.rs", "--allow", "PTX0170"]);
    assert_eq!((with(&lines, "PTX0201"), lines.len(), status), (1, 1, 1), "{lines:?}");
    let printed = run(&["print", "linked/missing.rs"], b"");
    assert_eq!((printed.status.code(), printed.stdout.len()), (Some(1), 0));
}

/// A macro in the rules of another one is a finding, because nothing checks it.
#[test]
fn macros_in_rules() {
    let text = "macro_rules! kernel { ($n:ident) => { ptx! { <sm_90, ptx 8.0> .visible .entry $n() { rex; } } }; }\n";
    let check = |more: &[&str]| {
        let out = run(&[&["check", "--message-format", "json", "-"], more].concat(), text.as_bytes());
        (String::from_utf8_lossy(&out.stdout).contains("\"line\":1,\"column\":39,"), out.status.code())
    };
    assert_eq!(check(&[]), (true, Some(1)));
    assert_eq!(check(&["--warn", "PTX0170"]), (true, Some(0)));
    assert_eq!(check(&["--allow", "PTX0170"]), (false, Some(0)));
}

#[test]
fn folders_and_patterns() {
    let files = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| line.split('"').nth(3).unwrap_or_default().to_owned()).collect()
    };
    let (lines, status) = found(&["folder"]);
    assert_eq!(
        (files(&lines), status),
        (["folder/a.ptx", "folder/inner/b.ptx", "folder/inner/d.rs"].map(str::to_owned).to_vec(), 1)
    );
    for (pattern, wanted) in [
        ("folder/*.ptx", &["folder/a.ptx"][..]),
        ("folder/**/*.ptx", &["folder/a.ptx", "folder/inner/b.ptx", "folder/made/e.ptx"]),
        ("folder/in*/?.rs", &["folder/inner/d.rs"]),
    ] {
        let mut shown = files(&found(&[pattern]).0);
        shown.dedup();
        assert_eq!(shown, wanted, "{pattern}");
    }
    // a file is checked once
    assert_eq!(found(&["folder", "folder/a.ptx"]).0.len(), 3);
    for nothing in ["folder/made/*.rs", "linked/*.ptx", "no-such-folder"] {
        assert_eq!(found(&[nothing]).1, 2, "{nothing}");
    }
    let empty = std::env::temp_dir().join(format!("ptx-dsl-empty-{}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    assert_eq!(found(&[empty.to_str().unwrap()]).1, 2);
    std::fs::remove_dir_all(&empty).unwrap();
}

/// `-q` shows errors, and neither warnings nor counts.
#[test]
fn quiet() {
    let shown = |arguments: &[&str]| {
        let out = run(&[&["check"], arguments].concat(), b"");
        (String::from_utf8_lossy(&out.stderr).into_owned(), out.status.code())
    };
    let (text, status) = shown(&["-q", "folder"]);
    assert!(text.matches("error[").count() == 2 && !text.contains("warning") && !text.contains("checked"), "{text}");
    assert_eq!(status, Some(1));
    assert_eq!(shown(&["--quiet", "folder/inner/b.ptx"]), (String::new(), Some(0)));
    assert_eq!(shown(&["-q", "--deny", "PTX0620", "folder/inner/b.ptx"]).1, Some(1));
}

/// A statement that goes on is indented once more, wherever its author has broken the line; a label with a constant in it is a label.
#[test]
fn fmt_of_long_statements() {
    let text = "mod m {
    ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 a,
    .param .u32 n)
    .reqntid 128
    {
    .reg .b32 %r<4>,
    %s;
    const N: u32 =
    4;
    mbarrier.try_wait.parity.shared::cta.b64
    %p, [%r1],
    %r2;
    @%p
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    {%d0, %d1},
    {%a0, %a1,
    %a2, %a3};
    ring::wait!(
    %r1,
    0);
    .global .u32 t[4] = {
    1, 2,
    3, 4
    };
    @for S in 0..2 {
    @%p bra skip{S};
    {
    add.u32 %r1,
    %r1, 1;
    }
    skip{S}:
    skip{S}_{2 * S}: add.u32 %r1, %r1, 1;
    .loc 1 2 3
    ret;
    }
    }
    }
}
";
    let wanted = "mod m {
    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k(.param .u64 a,
            .param .u32 n)
        .reqntid 128
        {
            .reg .b32 %r<4>,
                %s;
            const N: u32 =
                4;
            mbarrier.try_wait.parity.shared::cta.b64
                %p, [%r1],
                %r2;
            @%p
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
                {%d0, %d1},
                {%a0, %a1,
                    %a2, %a3};
            ring::wait!(
                %r1,
                0);
            .global .u32 t[4] = {
                1, 2,
                3, 4
            };
            @for S in 0..2 {
                @%p bra skip{S};
                {
                    add.u32 %r1,
                        %r1, 1;
                }
            skip{S}:
            skip{S}_{2 * S}: add.u32 %r1, %r1, 1;
                .loc 1 2 3
                ret;
            }
        }
    }
}
";
    let once = run(&["fmt", "-"], text.as_bytes()).stdout;
    assert_eq!(String::from_utf8_lossy(&once), wanted);
    assert_eq!(run(&["fmt", "--check", "-"], wanted.as_bytes()).status.code(), Some(0));
}
