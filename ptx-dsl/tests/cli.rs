//! The output and exit status of the `ptx-dsl` binary. Expected output is in `tests/cli/`; `BLESS=1` writes it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[path = "cli/files.rs"]
mod files;
#[path = "cli/profile.rs"]
mod profile;
#[path = "cli/reports.rs"]
mod reports;
#[path = "cli/run.rs"]
mod run_command;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("cli")
}

/// Runs the binary in `tests/cli`, with this on its standard input.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ptx-dsl"))
        .args(arguments)
        .current_dir(here())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // A process that reads nothing may have exited.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the binary ends")
}

/// Compares standard output, standard error and the status with a file.
fn expect(file: &str, arguments: &[&str], input: &[u8]) {
    let out = run(arguments, input);
    let text = format!(
        "{}--- stderr\n{}--- status {}\n",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
        out.status.code().unwrap_or(-1)
    );
    let path = here().join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{file} differs:\n{text}");
}

#[test]
fn check_for_people() {
    expect("check.txt", &["check", "wrong.ptx", "right.ptx"], b"");
}

#[test]
fn check_for_programs() {
    expect("check.json", &["check", "--message-format", "json", "@list.txt"], b"");
    expect("check.sarif", &["check", "--message-format", "sarif", "@list.txt"], b"");
    expect("check-parts.sarif", &["check", "--message-format", "sarif", "parts.rs"], b"");
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let commands = ["check", "run", "explain", "isa", "fmt", "print", "doctor"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let out = run(&["completions", shell], b"");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(commands.iter().all(|name| text.contains(name)), "{shell}: {text}");
    }
    let folder = std::env::temp_dir().join(format!("ptx-dsl-man-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    assert_eq!(run(&["man", folder.to_str().unwrap()], b"").status.code(), Some(0));
    for name in commands {
        assert!(folder.join(format!("ptx-dsl-{name}.1")).is_file(), "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(run(&["man", folder.to_str().unwrap()], b"").status.code(), Some(2));
    assert_eq!(run(&["completions", "cmd"], b"").status.code(), Some(2));
}

#[test]
fn levels_of_findings() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{ .reg .b32 %r<3>;\n\
                barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; add.u32 %r1, %r2, 1; ret; }\n";
    // The status, and how many of the two findings there are: a warning and an error.
    let check = |levels: &[&str]| {
        let out = run(&[&["check", "-", "--message-format", "json"], levels].concat(), text.as_bytes());
        let shown = String::from_utf8_lossy(&out.stdout).into_owned();
        let count = |what: &str| shown.matches(&format!("\"severity\":\"{what}\"")).count();
        (out.status.code(), count("error"), count("warning"))
    };
    assert_eq!(check(&[]), (Some(1), 1, 1));
    assert_eq!(check(&["--deny", "PTX0620"]), (Some(1), 2, 0));
    assert_eq!(check(&["--warn", "PTX0611"]), (Some(0), 0, 2));
    assert_eq!(check(&["--allow", "PTX0611", "--allow", "PTX0620"]), (Some(0), 0, 0));
    // The last one counts.
    assert_eq!(check(&["--allow", "PTX0611", "--warn", "PTX0611"]), (Some(0), 0, 2));
    assert_eq!(check(&["--warn", "PTX0611", "--allow", "PTX0611"]), (Some(0), 0, 1));
    // Classes, and user-defined groups.
    assert_eq!(check(&["--deny", "suspicious"]), (Some(1), 2, 0));
    assert_eq!(check(&["--deny", "warnings", "--warn", "PTX0620"]), (Some(1), 1, 1));
    assert_eq!(check(&["--deny", "protocol"]), (Some(1), 1, 1));
    assert_eq!(
        check(&["--group", "mine=PTX0611,other", "--group", "other=PTX0620,mine", "--allow", "mine"]),
        (Some(0), 0, 0)
    );
    assert_eq!(run(&["check", "-", "--group", "PTX0611=PTX0620"], b"").status.code(), Some(2));
    for wrong in ["PTX0999", "PTX0207", "0611", "PTX611", "strict"] {
        let out = run(&["check", "-", "--allow", wrong], b"");
        assert_eq!(out.status.code(), Some(2), "{}", String::from_utf8_lossy(&out.stderr));
    }
}

#[test]
fn check_of_standard_input_for_another_target() {
    let module = std::fs::read(here().join("right.ptx")).unwrap();
    expect("target.txt", &["check", "-", "--target", "sm_80", "--ptx", "7.0"], &module);
    assert_eq!(run(&["check", "-"], &module).status.code(), Some(0));
}

#[test]
fn any_bytes_give_diagnostics() {
    // Latin-1 is allowed in a comment; elsewhere it is an error.
    let fine = b".version 9.0\n.target sm_90\n.address_size 64\n// caf\xe9\n";
    assert_eq!(run(&["check", "-"], fine).status.code(), Some(0));
    let mut state = 1u32;
    for length in [0, 1, 17, 5000] {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        for format in ["human", "json"] {
            let out = run(&["check", "-", "--message-format", format], &bytes);
            assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
        }
    }
}

#[test]
fn explain() {
    expect("explain.txt", &["explain", "PTX0207"], b"");
    expect("explain-unknown.txt", &["explain", "PTX9999"], b"");
    let all = run(&["explain"], b"");
    assert!(String::from_utf8_lossy(&all.stdout).contains("PTX0407  register of another type\n"));
}

#[test]
fn isa() {
    expect("isa.txt", &["isa", "mbarrier.arrive_drop"], b"");
    expect("isa-unknown.txt", &["isa", "mbarier.init"], b"");
    assert!(String::from_utf8_lossy(&run(&["isa"], b"").stdout).contains("texture: tex,"));
}

#[test]
fn fmt() {
    let crooked = std::fs::read(here().join("crooked.ptx")).unwrap();
    expect("fmt.txt", &["fmt", "-"], &crooked);
    // Formatting again changes nothing.
    let once = run(&["fmt", "-"], &crooked).stdout;
    assert_eq!(run(&["fmt", "-"], &once).stdout, once);
    expect("fmt-check.txt", &["fmt", "--check", "crooked.ptx"], b"");
}

/// The macros of a Rust file are checked, printed and formatted where they stand.
#[test]
fn files_of_rust() {
    expect("check-rust.txt", &["check", "kernels.rs"], b"");
    expect("print-rust.txt", &["print", "kernels.rs"], b"");
    let copy = std::env::temp_dir().join(format!("ptx-dsl-{}-kernels.rs", std::process::id()));
    std::fs::copy(here().join("kernels.rs"), &copy).unwrap();
    let name = copy.to_str().unwrap();
    assert_eq!(run(&["fmt", "--check", name], b"").status.code(), Some(1));
    assert_eq!(run(&["fmt", name], b"").status.code(), Some(0));
    assert_eq!(run(&["fmt", "--check", name], b"").status.code(), Some(0));
    let formatted = std::fs::read_to_string(&copy).unwrap();
    std::fs::remove_file(&copy).unwrap();
    let (macros, start) = (&formatted[formatted.find("fn second").unwrap()..], "fn second() {\n");
    let end = macros.find("    }\n}\n").unwrap();
    assert_eq!(
        &macros[start.len()..end],
        "        ptx! {
            <sm_90, ptx 8.0>
            .visible .entry wrong(.param .u32 n)
            {
                .reg .b32 %r<2>;   // registers
                mov.u64 %r1, 0;      // of 64 bits
            top:
                bra top;
            }
        }
        let k = ptx_dsl::ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| .maxntid 256 {
            .reg .b32 %r;
            ld.param.u32 %r, [n];
            ret;
        });
"
    );
}

/// Rust constants, const parameters and repetitions are read as in rustc, but nobody evaluates them.
#[test]
fn constants_in_files_of_rust() {
    expect("check-constants.txt", &["check", "constants.rs"], b"");
    expect("check-undeclared.txt", &["check", "undeclared.rs"], b"");
    let printed = run(&["print", "constants.rs"], b"");
    let (text, said) = (String::from_utf8_lossy(&printed.stdout), String::from_utf8_lossy(&printed.stderr));
    assert!(text.is_empty() && said.contains("1 module not printed"), "{text}{said}");
    assert_eq!(run(&["fmt", "--check", "constants.rs"], b"").status.code(), Some(0));
}

/// Types that do not suit their parameters, and files that the macros of a Rust file include: each once.
#[test]
fn types_and_included_files() {
    expect("check-types.txt", &["check", "types.rs", "doubtful.ptx"], b"");
    // alone, the level is that of the macro
    let out = run(&["check", "types.rs"], b"");
    assert!(!String::from_utf8_lossy(&out.stderr).contains("PTX0516"));
}

/// A text on standard input is Rust if it does not begin as PTX does.
#[test]
fn rust_on_standard_input() {
    let text = "mod m {\n    ptx! {\n    <sm_90, ptx 8.0>\n  .visible .entry k() { bogus; }\n    }\n}\n";
    let wanted = "mod m {\n    ptx! {\n        <sm_90, ptx 8.0>\n        .visible .entry k() { bogus; }\n    }\n}\n";
    let out = run(&["fmt", "-"], text.as_bytes());
    assert_eq!((String::from_utf8_lossy(&out.stdout).as_ref(), out.status.code()), (wanted, Some(0)));
    assert_eq!(run(&["fmt", "-", "--check"], wanted.as_bytes()).status.code(), Some(0));
    let none = "fn f() {\n      g(a);\n}\n";
    assert_eq!(String::from_utf8_lossy(&run(&["fmt", "-"], none.as_bytes()).stdout), none);
    let checked = run(&["check", "-"], text.as_bytes());
    let shown = String::from_utf8_lossy(&checked.stderr);
    assert!(shown.contains("--> <stdin>:4:25") && shown.contains("1 error; "), "{shown}");
}

/// `fmt`, then rustfmt, then `fmt --check`: neither undoes what the other did.
#[test]
fn fmt_and_rustfmt_agree() {
    let copy = std::env::temp_dir().join(format!("ptx-dsl-{}-rustfmt.rs", std::process::id()));
    let name = copy.to_str().unwrap();
    let crooked = "mod a { mod b {\nptx_dsl::ptx! {\n<sm_90, ptx 8.0>\n.visible .entry k(.param .u32 n) {\n.reg .b32 %r;\n\nld.param.u32 %r, [n]; // a\n\
                   @for I in 0..4 {\nadd.u32 %r, %r, I;\n}\nret;\n}\n}\n   fn f() {\nlet x = ptx!(<sm_90, ptx 8.0> |n: u32| {\n.reg .b32 %r;\nret;\n});\n\
                   launch(ptx! {\n<sm_90, ptx 8.0>\n|n: u32| { ret; }\n}, 5);\n}\n}\n}\n";
    for text in [crooked.to_owned(), std::fs::read_to_string(here().join("kernels.rs")).unwrap()] {
        std::fs::write(&copy, text).unwrap();
        assert_eq!(run(&["fmt", name], b"").status.code(), Some(0));
        let rustfmt = || Command::new("rustfmt").args(["--edition", "2024", name]).status();
        // it may not be installed
        let Ok(status) = rustfmt() else { return };
        assert!(status.success());
        let laid_out = std::fs::read_to_string(&copy).unwrap();
        assert_eq!(run(&["fmt", "--check", name], b"").status.code(), Some(0), "{laid_out}");
        assert!(rustfmt().unwrap().success());
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), laid_out);
    }
    std::fs::remove_file(&copy).unwrap();
}

/// A module sees the parts of its file. A part that is not found is an error, and what does not depend on it is checked all the same.
#[test]
fn parts_in_files_of_rust() {
    expect("check-parts.txt", &["check", "parts.rs"], b"");
    assert_eq!(run(&["fmt", "--check", "parts.rs"], b"").status.code(), Some(0));
}

#[test]
fn fmt_keeps_every_module() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("tests").join("ptx");
    let mut seen = 0;
    for entry in std::fs::read_dir(modules).unwrap().flatten() {
        let text = std::fs::read(entry.path()).unwrap();
        let formatted = run(&["fmt", "-"], &text);
        assert!(formatted.status.success(), "{}", entry.path().display());
        let prints = |t: &[u8]| run(&["print", "-"], t).stdout;
        assert_eq!(prints(&text), prints(&formatted.stdout), "{}", entry.path().display());
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn print() {
    expect("print.txt", &["print", "right.ptx"], b"");
    expect("print-wrong.txt", &["print", "wrong.ptx"], b"");
}

/// Findings of 06xx, and warnings that the header makes errors, are reported and stop nothing.
#[test]
fn print_what_is_legal() {
    let twice = format!("{HEAD}barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }}\n");
    let denied = "<sm_90, ptx 9.0, deny(PTX0516)>\n.visible .entry k() .minnctapersm 2 { ret; }\n".to_string();
    for (text, code) in [(twice, "PTX0611"), (denied, "PTX0516")] {
        let out = run(&["print", "-"], text.as_bytes());
        let (printed, shown) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(shown.contains(&format!("error[{code}]")), "{shown}");
        assert!(
            printed.starts_with(".version 9.0\n.target sm_90\n") && printed.ends_with("    ret;\n}\n"),
            "{printed}"
        );
        assert_eq!(out.status.code(), Some(0));
        assert_eq!(run(&["check", "-"], text.as_bytes()).status.code(), Some(1));
        assert_eq!(run(&["fmt", "-"], text.as_bytes()).status.code(), Some(0));
    }
    let out = run(&["print", "-"], format!("{HEAD}rex;\n}}\n").as_bytes());
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(1), &b""[..]));
}

/// Comments in any encoding are kept, blank lines and white space included.
#[test]
fn the_examples_are_formatted() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(examples).expect("the examples").map(|file| file.expect("a file").path());
    let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|e| e == "rs")).collect();
    let arguments = ["fmt", "--check"].into_iter().chain(files.iter().filter_map(|file| file.to_str()));
    let out = run(&arguments.collect::<Vec<_>>(), b"");
    assert!(files.len() > 8 && out.status.code() == Some(0), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn fmt_keeps_comments() {
    let text = b".version 9.0\n.target sm_90\n// caf\xe9 \xc3\xa0\n/* a\n\n\n  \x80b   \n*/ .visible .entry k()\n{ /* c  \n  d */ ret;\n\n\n}\n";
    let out = run(&["fmt", "-"], text);
    let want = b".version 9.0\n.target sm_90\n// caf\xe9 \xc3\xa0\n/* a\n\n\n  \x80b   \n*/ .visible .entry k()\n{ /* c  \n  d */ ret;\n\n}\n";
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(0), &want[..]));
    assert_eq!(run(&["fmt", "-"], want).stdout, want);
    assert_eq!(run(&["check", "-"], text).status.code(), Some(0));
}

#[test]
fn what_cannot_be_read() {
    let out = run(&["check", "no-such-file.ptx", "right.ptx"], b"");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("error: cannot read `no-such-file.ptx`"));
    assert_eq!(run(&["check"], b"").status.code(), Some(2));
    #[cfg(target_os = "linux")]
    for command in ["check", "print", "fmt", "run"] {
        let out = run(&[command, "/dev/zero"], b"");
        let text = String::from_utf8_lossy(&out.stderr);
        let wanted = "cannot read `/dev/zero`: it is not a regular file, and has more than 256 MiB";
        assert!(out.status.code() == Some(2) && text.contains(wanted), "{command}: {text}");
    }
    for (begin, what) in [(&b"\x7fELF\x02\x01\x01"[..], "an ELF file"), (b"\x50\xed\x55\xba\x01", "a fat binary")] {
        for command in ["check", "print", "run"] {
            let out = run(&[command, "-"], begin);
            assert_eq!(out.status.code(), Some(2), "{command}");
            let text = String::from_utf8_lossy(&out.stderr);
            assert!(text.starts_with(&format!("error: `<stdin>` is {what}, not PTX")), "{text}");
        }
    }
}

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n";

/// `check` of this text: status, standard error.
fn check(text: impl AsRef<[u8]>) -> (i32, String) {
    let out = run(&["check", "-"], text.as_ref());
    (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn columns_count_characters() {
    let text = format!("{HEAD}/* \u{e9}\u{4e2d}\u{1F600} */\tadd.i32 %r1;\nret;\n}}\n");
    let out = run(&["check", "-", "--message-format=json"], text.as_bytes());
    let line = String::from_utf8(out.stdout).unwrap();
    assert!(line.contains(r#""line":6,"column":15,"end_line":6,"end_column":18,"code":"PTX0201""#), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn unusual_texts() {
    let right = format!("{HEAD}ret;\n}}\n");
    assert_eq!(check(right.replace('\n', "\r\n")), (0, String::new()));
    assert_eq!(check(format!("{right}// caf\u{e9}\n")), (0, String::new()));
    let (status, shown) = check(format!("\u{feff}{right}"));
    assert!(status == 1 && shown.contains("unknown character U+FEFF") && shown.contains("byte order mark"), "{shown}");
    let (status, shown) = check([HEAD.as_bytes(), b"ret;\xff\xfe\n}\n"].concat());
    assert!(status == 1 && shown.contains("not UTF-8") && shown.contains("<stdin>:6:5"), "{shown}");
    let (status, shown) = check("");
    assert!(status == 1 && shown.contains("PTX0304") && shown.contains("PTX0305"), "{shown}");
    // A carriage return is not rendered.
    let (status, shown) = check(format!("{HEAD}rex;\n}}\n").replace('\n', "\r\n"));
    assert!(status == 1 && shown.contains("6 | rex;\n"), "{shown}");
    // Of a line of thousands of characters only the marked part is shown.
    let (status, shown) =
        check(format!("{HEAD}{} rex; {}\nret;\n}}\n", "bar.sync 0;".repeat(900), "bar.sync 0;".repeat(900)));
    assert!(status == 1 && shown.contains("<stdin>:6:9902\n") && shown.len() < 1000, "{shown}");
}

#[test]
fn what_ptxas_does_not_take_in_strings() {
    for (string, taken) in [("a", true), ("a\\", true), ("\u{e9}", false), ("a\nb", false)] {
        let (status, shown) = check(format!(".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"{string}\"\n"));
        assert_eq!(status == 0, taken, "{string}: {shown}");
    }
}

/// On a machine with a GPU or without one.
#[test]
fn the_machine_is_described_and_its_gpu_used() {
    let doctor = run(&["doctor"], b"");
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{text}");
    let line = |start: &str| text.lines().any(|line| line.starts_with(start));
    assert!(
        line("features: cli, cuda") && line("host: ") && line("ptxas: ") && (line("driver: ") || line("GPU 0: ")),
        "{text}"
    );

    let kernel = b".version 8.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 .ptr .global .align 4 x) {
            .reg .b64 %x; ld.param.u64 %x, [x]; st.global.u32 [%x], 7; ret; }";
    let arguments = ["run", "-", "--block", "1", "--arg", "x=u32[2]", "--print", "x[0..2]", "--gpu", "--compare"];
    let launched = run(&arguments, kernel);
    let (out, err) = (String::from_utf8_lossy(&launched.stdout), String::from_utf8_lossy(&launched.stderr));
    match ptx_dsl::cuda::Gpu::available() {
        true => assert!(launched.status.success() && out == "x[0..2]: 7 0\n", "{out}{err}"),
        false => assert!(launched.status.code() == Some(2) && err.starts_with("error: there is no "), "{out}{err}"),
    }
}

#[test]
fn usage() {
    for arguments in [
        &["check", "-", "--target", "sm_9"][..],
        &["check", "-", "--ptx", "9"],
        &["check", "-", "--ptx", "99.0"],
        &["check", "-", "--message-format", "xml"],
        &["check", "@no-such-list.txt"],
        &["print", "."],
        &["fmt", "."],
        &["fmt"],
        &["nothing"],
        &[],
    ] {
        let out = run(arguments, b"");
        let shown = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(2) && !shown.is_empty(), "{arguments:?}: {shown}");
    }
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"]] {
        assert_eq!(run(arguments, b"").status.code(), Some(0));
    }
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let out = run(&["check", "no-such-file.ptx", "wrong.ptx"], b"");
    assert!(out.status.code() == Some(2) && String::from_utf8_lossy(&out.stderr).contains("PTX0207"));
    let out = run(&["print", "no-such-file.ptx", "right.ptx"], b"");
    assert!(out.status.code() == Some(2) && String::from_utf8_lossy(&out.stdout).contains(".entry meet"));
    let out = run(&["fmt", "--check", "no-such-file.ptx", "crooked.ptx"], b"");
    assert!(out.status.code() == Some(2) && String::from_utf8_lossy(&out.stdout).contains("crooked.ptx"));
    // A list may name standard input, and may be standard input.
    let out = run(&["check", "@-"], b"right.ptx\n\nwrong.ptx\n");
    assert!(out.status.code() == Some(1) && String::from_utf8_lossy(&out.stderr).contains("2 files checked"));
}

#[test]
fn many_files_are_reported_in_their_order() {
    let folder = std::env::temp_dir().join(format!("ptx-dsl-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut list = String::new();
    for i in 0..200 {
        let file = folder.join(format!("{i:03}.ptx"));
        std::fs::write(&file, format!("{HEAD}rex{i};\n}}\n")).unwrap();
        list += &format!("{}\n", file.display());
    }
    let out = run(&["check", "--message-format", "json", "@-"], list.as_bytes());
    let shown = String::from_utf8(out.stdout).unwrap();
    let files: Vec<&str> = shown.lines().map(|l| &l[l.find(".ptx").unwrap() - 3..][..3]).collect();
    assert!(files.len() == 200 && files.is_sorted(), "{files:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nobody_reads() {
    for arguments in
        [&["isa", "cvt"][..], &["explain"], &["check", "--message-format", "json", "wrong.ptx"], &["--help"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ptx-dsl"))
            .args(arguments)
            .current_dir(here())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let out = child.wait_with_output().expect("the binary ends");
        let shown = String::from_utf8_lossy(&out.stderr);
        assert!(matches!(out.status.code(), Some(0 | 1)) && !shown.contains("panicked"), "{arguments:?}: {shown}");
    }
}

#[test]
fn isa_finds_an_opcode_below_its_qualifiers() {
    let out = run(&["isa", "mbarrier.arrive_drop.release.cta.b64"], b"");
    assert!(String::from_utf8_lossy(&out.stdout).starts_with("mbarrier.arrive_drop (PTX ISA 9.7.13.15.14)"));
    for (family, opcodes) in
        String::from_utf8_lossy(&run(&["isa"], b"").stdout).lines().filter_map(|l| l.split_once(": "))
    {
        for opcode in opcodes.split(", ") {
            let shown = String::from_utf8(run(&["isa", opcode], b"").stdout).unwrap();
            let parts = ["(PTX ISA ", "since PTX ISA ", "forms:", "host: "];
            assert!(parts.iter().all(|p| shown.contains(p)), "{family}, {opcode}:\n{shown}");
        }
    }
}
