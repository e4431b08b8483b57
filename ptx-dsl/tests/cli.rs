//! The `ptx-dsl` binary: what it writes and returns. Expected output is in `tests/cli/`; `BLESS=1` writes it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
    // A process that reads nothing may be gone already.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the binary ends")
}

/// Standard output, then standard error, then the status, against a file.
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
}

#[test]
fn levels_of_findings() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{ .reg .b32 %r<3>;\n\
                barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; add.u32 %r1, %r2, 1; ret; }\n";
    // The status, and how much is found of the two that there are: a warning and an error.
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
    for wrong in ["PTX0699", "PTX0207", "0611", "PTX611"] {
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
    // Latin-1 in a comment is no error; elsewhere it is one.
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
    assert!(String::from_utf8_lossy(&all.stdout).contains("PTX0407  a register of another type\n"));
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
    // What is formatted stays.
    let once = run(&["fmt", "-"], &crooked).stdout;
    assert_eq!(run(&["fmt", "-"], &once).stdout, once);
    expect("fmt-check.txt", &["fmt", "--check", "crooked.ptx"], b"");
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

#[test]
fn what_cannot_be_read() {
    let out = run(&["check", "no-such-file.ptx", "right.ptx"], b"");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).starts_with("error: cannot read `no-such-file.ptx`"));
    assert_eq!(run(&["check"], b"").status.code(), Some(2));
}
