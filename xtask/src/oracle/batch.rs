//! Asks both judges about many cases in one module, one line each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::isa::Ptx;
use ptx_dsl_frontend::lex::lex;

/// A statement for a target and version.
#[derive(Debug, Clone)]
pub struct Case {
    pub family: &'static str,
    /// Its opcode in the table.
    pub opcode: &'static str,
    /// `legal` or the kind of mutation.
    pub kind: &'static str,
    pub text: String,
    pub target: &'static str,
    pub version: Ptx,
}

/// The message on a refused case.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    pub ours: Option<String>,
    pub theirs: Option<String>,
}

/// The most lines of a module.
const LINES: usize = 2500;

/// The same for lines that may each end the parsing of ptxas.
const FEW: usize = 24;

/// Messages of the front end for such lines: mistakes outside of ptxas' grammar.
const UNREAD: &[&str] = &["PTX01", "PTX0416 this", "PTX0506"];

/// A wrong line: ptxas still checks all others, but skips code generation, which takes far longer.
const WRONG: &str = "add.f32 %f1, %p1, %f2;";

/// The module around cases; the first case is on the line after this text.
pub fn head(target: &str, version: Ptx, samplers: bool) -> String {
    let mut registers = ".reg .b8 %c<9>; .reg .b16 %h<40>; .reg .b32 %r<300>; .reg .b64 %d<60>; .reg .f32 %f<140>; \
        .reg .f64 %e<60>; .reg .pred %p<9>; .reg .u32 %u<3>; .reg .s32 %s<3>; .reg .u64 %ud<3>; .reg .s64 %sd<3>; \
        .reg .u16 %uh<3>; .reg .s16 %sh<3>;"
        .to_string();
    let number = ptx_dsl_frontend::isa::target::target(target).map_or(0, |t| t.number);
    if version >= Ptx(8, 3) && number >= 70 {
        registers += " .reg .b128 %q<9>; .reg .f16 %hf<3>; .reg .f16x2 %hx<3>;";
    }
    // Samplers are separate in this mode only.
    let (mode, sampler) = if samplers { (", texmode_independent", " .global .samplerref smp;") } else { ("", "") };
    let table = if version >= Ptx(6, 0) { "TARGETS: .branchtargets LAST; " } else { "" };
    let Ptx(major, minor) = version;
    format!(
        ".version {major}.{minor}\n.target {target}{mode}\n.address_size 64\n\
         .global .align 128 .b8 gv[1024]; .shared .align 128 .b8 sv[1024]; .const .align 16 .b8 cv[64]; .global .texref tex; \
         .global .surfref srf;{sampler}\n\
         .func f0() {{ ret; }} .func f1(.reg .b32 a) {{ ret; }} .func (.reg .b32 r) f2(.reg .b32 a) {{ ret; }}\n\
         .visible .entry k(.param .b64 kp)\n{{\n{registers} .local .align 16 .b8 lv[64];\n\
         {table}P0: .callprototype _(); P1: .callprototype _(.reg .b32 _); \
         P2: .callprototype (.reg .b32 _) _(.reg .b32 _);\n"
    )
}

/// Does the case name a sampler?
fn apart(case: &Case) -> bool {
    case.text.contains("smp")
}

const TAIL: &str = "\nLAST:\nret;\n}\n";

fn module(head: &str, lines: &[&str], wrong: bool) -> String {
    let last = if wrong { WRONG } else { "" };
    format!("{head}{}\n{last}{TAIL}", lines.join("\n"))
}

/// A module of this case alone.
fn alone(case: &Case) -> String {
    module(&head(case.target, case.version, apart(case)), &[&case.text], false)
}

/// The same for readers: it declares what the statement names.
pub fn minimal(case: &Case) -> String {
    let words: Vec<&str> = case
        .text
        .split(|c: char| !(c.is_ascii_alphanumeric() || "%_$.".contains(c)))
        .filter(|w| !w.is_empty())
        .collect();
    let head = head(case.target, case.version, apart(case));
    let (mut out, mut registers) = (String::new(), String::new());
    for piece in head.split_inclusive([';', '}', '\n']) {
        let text = piece.trim();
        let name = text.trim_end_matches([';', '}', ' ']);
        if text.starts_with(".reg") && name.ends_with('>') {
            // `.reg .b32 %r<300>`
            let prefix = name.split([' ', '<']).find(|p| p.starts_with('%')).unwrap_or("%");
            let number = |w: &&str| w.strip_prefix(prefix)?.split('.').next()?.parse::<u32>().ok();
            if let Some(most) = words.iter().filter_map(number).max() {
                registers += &format!("    {}{}>;\n", &name[..name.find('<').map_or(0, |i| i + 1)], most + 1);
            }
        } else if text.starts_with(['.', 'T', 'P']) && !text.starts_with(".visible") {
            // A variable, a function, a prototype, or the header.
            let named = |w: &&str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|t| t == *w);
            let header = [".version", ".target", ".address_size"].iter().any(|h| text.starts_with(h));
            if header || words.iter().any(named) {
                out += &format!("{text}\n");
            }
        }
    }
    let (locals, globals): (Vec<&str>, Vec<&str>) =
        out.lines().partition(|l| l.starts_with(['T', 'P']) || l.starts_with(".local"));
    let locals: String = locals.iter().map(|l| format!("    {l}\n")).collect();
    let label = if words.iter().any(|w| matches!(*w, "LAST" | "TARGETS")) { "LAST:\n" } else { "" };
    let kernel = if words.contains(&"kp") { ".visible .entry k(.param .b64 kp)" } else { ".visible .entry k()" };
    format!("{}\n{kernel}\n{{\n{registers}{locals}    {}\n{label}    ret;\n}}\n", globals.join("\n"), case.text)
}

/// Asks about all cases, in as many threads as there are processors.
pub fn judge(ptxas: &Path, cases: &[Case]) -> Result<Vec<Verdict>, String> {
    verdicts(Some(ptxas), cases)
}

/// The verdicts of the front end alone.
pub fn ours(cases: &[Case]) -> Result<Vec<Option<String>>, String> {
    Ok(verdicts(None, cases)?.into_iter().map(|v| v.ours).collect())
}

fn verdicts(ptxas: Option<&Path>, cases: &[Case]) -> Result<Vec<Verdict>, String> {
    // Kernels of one kind of `.cta_group` only.
    let mut groups: BTreeMap<(&str, Ptx, bool, bool), Vec<usize>> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        let two = case.text.contains(".cta_group::2");
        groups.entry((case.target, case.version, two, apart(case))).or_default().push(i);
    }
    let jobs: Vec<_> = groups
        .iter()
        .flat_map(|((t, v, _, apart), list)| list.chunks(LINES).map(move |chunk| (*t, *v, *apart, chunk)))
        .collect();
    let directory = std::env::temp_dir().join(format!("ptx-dsl-oracle-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![Verdict::default(); cases.len()]));
    let worker = || -> Result<(), String> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((target, version, apart, chunk)) = jobs.get(number) else { return Ok(()) };
            let head = head(target, *version, *apart);
            let mut lines: Vec<&str> = chunk.iter().map(|i| cases[*i].text.as_str()).collect();
            let ours = front(&module(&head, &lines, true), head.lines().count(), lines.len());
            let file = directory.join(format!("{number}.ptx"));
            let theirs = match ptxas {
                Some(ptxas) => sorted(ptxas, &file, target, &head, &mut lines, &ours)?,
                None => vec![None; lines.len()],
            };
            let _ = std::fs::remove_file(&file);
            let mut all = verdicts.lock().map_err(|_| "a worker panicked")?;
            for ((i, ours), theirs) in chunk.iter().zip(ours).zip(theirs) {
                all[*i] = Verdict { ours, theirs };
            }
        }
    };
    let result = parallel(worker);
    let _ = std::fs::remove_dir_all(&directory);
    result?;
    verdicts.into_inner().map_err(|_| "a worker panicked".into())
}

/// Asks about each case in a module of its own, which ptxas assembles completely, so that other lines have no influence and code
/// generation counts.
pub fn judge_alone(ptxas: &Path, cases: &[&Case]) -> Result<Vec<Verdict>, String> {
    let directory = std::env::temp_dir().join(format!("ptx-dsl-oracle-alone-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![Verdict::default(); cases.len()]));
    let worker = || -> Result<(), String> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(number) else { return Ok(()) };
            let text = alone(case);
            let first = head(case.target, case.version, apart(case)).lines().count();
            let ours = front(&text, first, 1).pop().flatten();
            let file = directory.join(format!("{number}.ptx"));
            let (printed, good) = run(ptxas, &file, case.target, &text)?;
            let _ = std::fs::remove_file(&file);
            let message =
                || messages(&printed).next().map_or_else(|| format!("ptxas dies: {printed}"), |m| m.1.to_string());
            let theirs = (!good).then(message);
            verdicts.lock().map_err(|_| "a worker panicked")?[number] = Verdict { ours, theirs };
        }
    };
    parallel(worker)?;
    let _ = std::fs::remove_dir_all(&directory);
    verdicts.into_inner().map_err(|_| "a worker panicked".into())
}

/// Divides the work among as many threads as there are processors.
fn parallel(worker: impl Fn() -> Result<(), String> + Sync) -> Result<(), String> {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(&worker)).collect();
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| "a worker panicked".to_string())?)
    })
}

/// The message of the front end for each line. Findings of flow in such a module mean nothing.
fn front(text: &str, first: usize, count: usize) -> Vec<Option<String>> {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut out = vec![None; count];
    for d in found.iter().filter(|d| d.severity == Severity::Error && !(600..700).contains(&d.code)) {
        let line = ends.partition_point(|end| *end < lexed.bytes(d.span).start);
        if let Some(slot) = line.checked_sub(first).and_then(|i| out.get_mut(i)) {
            slot.get_or_insert_with(|| format!("PTX{:04} {}", d.code, d.message));
        }
    }
    out
}

/// The message of ptxas for each line. Lines that ptxas likely cannot parse go into modules of a few, because it stops at each
/// and has to be restarted after it.
fn sorted(
    ptxas: &Path,
    file: &Path,
    target: &str,
    head: &str,
    lines: &mut [&str],
    ours: &[Option<String>],
) -> Result<Vec<Option<String>>, String> {
    let unread = |o: &Option<String>| o.as_ref().is_some_and(|o| UNREAD.iter().any(|u| o.starts_with(u)));
    let doubtful: Vec<usize> = (0..lines.len()).filter(|i| unread(&ours[*i])).collect();
    let mut few: Vec<&str> = doubtful.iter().map(|i| std::mem::take(&mut lines[*i])).collect();
    let mut out = assembler(ptxas, file, target, head, lines)?;
    for (at, few) in doubtful.chunks(FEW).zip(few.chunks_mut(FEW)) {
        for (i, verdict) in at.iter().zip(assembler(ptxas, file, target, head, few)?) {
            out[*i] = verdict;
        }
    }
    Ok(out)
}

/// The message of ptxas for each line. A syntax error ends its parsing: such lines are found one after the other, then the rest
/// is parsed as a whole.
fn assembler(
    ptxas: &Path,
    file: &Path,
    target: &str,
    head: &str,
    lines: &mut [&str],
) -> Result<Vec<Option<String>>, String> {
    let before = head.lines().count();
    let mut out: Vec<Option<String>> = vec![None; lines.len()];
    let mut start = 0;
    loop {
        let (printed, _) = run(ptxas, file, target, &module(head, &lines[start..], true))?;
        let fatal = messages(&printed).find(|m| m.2);
        let Some((line, text, _)) = fatal else {
            if !printed.contains("aborted due to errors") {
                // Lines found before are blank by now and stay found.
                let rest = crash(ptxas, file, target, head, lines, &printed)?;
                return Ok(out.into_iter().zip(rest).map(|(before, now)| before.or(now)).collect());
            }
            break;
        };
        // The error may be on the line that follows, where a statement has no end.
        let at = (line.saturating_sub(before + 1) + start).min(lines.len() - 1);
        out[at] = Some(text.to_string());
        lines[at] = "";
        start = at + 1;
        if start == lines.len() {
            break;
        }
    }
    loop {
        let (printed, _) = run(ptxas, file, target, &module(head, lines, true))?;
        // A blanked line may have hidden another error.
        if let Some((line, text, _)) = messages(&printed).find(|m| m.2) {
            let at = line.checked_sub(before + 1).map(|at| at.min(lines.len() - 1)).filter(|at| !lines[*at].is_empty());
            // Some lines are of the text into which ptxas expands `wmma`.
            let Some(at) = at else {
                let rest = crash(ptxas, file, target, head, lines, &printed)?;
                return Ok(out.into_iter().zip(rest).map(|(before, now)| before.or(now)).collect());
            };
            (out[at], lines[at]) = (Some(text.to_string()), "");
            continue;
        }
        for (line, text, _) in messages(&printed).filter(|m| m.0 > before) {
            if let Some(slot) = out.get_mut(line - before - 1) {
                slot.get_or_insert_with(|| text.to_string());
            }
        }
        return Ok(out);
    }
}

/// Line, message, and whether ptxas stopped there.
fn messages(printed: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    printed.lines().filter_map(|l| {
        let (number, rest) = l.split_once(", line ")?.1.split_once(';')?;
        let (kind, text) = rest.split_once(':')?;
        let fatal = kind.trim() == "fatal";
        (fatal || kind.trim() == "error").then(|| Some((number.parse().ok()?, text.trim(), fatal)))?
    })
}

/// ptxas ended without a message: the lines are bisected, and the one that it crashes on counts as refused.
fn crash(
    ptxas: &Path,
    file: &Path,
    target: &str,
    head: &str,
    lines: &mut [&str],
    printed: &str,
) -> Result<Vec<Option<String>>, String> {
    if lines.len() == 1 {
        return Ok(vec![Some(format!("ptxas dies: {}", printed.lines().next().unwrap_or("no message")))]);
    }
    let (left, right) = lines.split_at_mut(lines.len() / 2);
    let mut out = assembler(ptxas, file, target, head, left)?;
    out.extend(assembler(ptxas, file, target, head, right)?);
    Ok(out)
}

fn run(ptxas: &Path, file: &Path, target: &str, text: &str) -> Result<(String, bool), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    let (log, seen) = (file.with_extension("log"), |e: std::io::Error| format!("{}: {e}", ptxas.display()));
    let stderr = std::fs::File::create(&log).map_err(seen)?;
    // Code generation of a few wrong statements never ends and takes all memory.
    let good = Command::new("sh")
        .args(["-c", "ulimit -t 20; ulimit -v 4194304; exec \"$0\" \"$@\""])
        .arg(ptxas)
        .arg(format!("-arch={}", architecture(target)))
        .args(["-o", "/dev/null"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .status()
        .map_err(seen)?
        .success();
    let printed = String::from_utf8_lossy(&std::fs::read(&log).map_err(seen)?).into_owned();
    let _ = std::fs::remove_file(&log);
    Ok((printed, good))
}

/// CUDA 13 generates code from sm_75 on, and reads older PTX for it; `sm_101` is the name of `sm_110` before 9.0.
fn architecture(target: &str) -> String {
    let number = target.trim_start_matches("sm_");
    match (number.strip_prefix("101"), number.parse::<u32>()) {
        (Some(suffix), _) => format!("sm_110{suffix}"),
        (None, Ok(version)) if version < 75 => "sm_75".into(),
        _ => target.into(),
    }
}
