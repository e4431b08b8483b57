//! Asks both judges about many cases in one module, one line each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::isa::Ptx;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_test_support::parallel;
use ptx_dsl_test_support::ptxas::architecture_of;

use crate::tools::make_directory;

/// A statement for a target and version.
#[derive(Debug, Clone)]
pub struct Case {
    pub family: &'static str,
    /// The opcode in the table.
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

/// The most lines of a module if each of them may end the parsing of ptxas.
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
fn names_sampler(case: &Case) -> bool {
    case.text.contains("smp")
}

const TAIL: &str = "\nLAST:\nret;\n}\n";

fn module(head: &str, lines: &[&str], wrong: bool) -> String {
    let last = if wrong { WRONG } else { "" };
    format!("{head}{}\n{last}{TAIL}", lines.join("\n"))
}

/// A module of this case alone.
fn alone(case: &Case) -> String {
    module(&head(case.target, case.version, names_sampler(case)), &[&case.text], false)
}

/// A module of this case for readers: it declares what the statement names.
pub fn minimal(case: &Case) -> String {
    let words: Vec<&str> = case
        .text
        .split(|c: char| !(c.is_ascii_alphanumeric() || "%_$.".contains(c)))
        .filter(|w| !w.is_empty())
        .collect();
    let head = head(case.target, case.version, names_sampler(case));
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

/// The verdicts on all cases.
pub fn judge(ptxas: &Path, cases: &[Case]) -> Result<Vec<Verdict>, String> {
    verdicts(Some(ptxas), cases)
}

/// The verdicts of the front end alone.
pub fn ours(cases: &[Case]) -> Result<Vec<Option<String>>, String> {
    Ok(verdicts(None, cases)?.into_iter().map(|v| v.ours).collect())
}

/// The numbers of the cases that one module holds.
struct Job<'a> {
    number: usize,
    target: &'a str,
    version: Ptx,
    samplers: bool,
    cases: &'a [usize],
}

fn verdicts(ptxas: Option<&Path>, cases: &[Case]) -> Result<Vec<Verdict>, String> {
    // Kernels of one kind of `.cta_group` only.
    let mut groups: BTreeMap<(&str, Ptx, bool, bool), Vec<usize>> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        let two = case.text.contains(".cta_group::2");
        groups.entry((case.target, case.version, two, names_sampler(case))).or_default().push(i);
    }
    let modules = groups.iter().flat_map(|(group, list)| list.chunks(LINES).map(move |chunk| (group, chunk)));
    let job = |(number, (&(target, version, _, samplers), cases))| Job { number, target, version, samplers, cases };
    let jobs: Vec<Job> = modules.enumerate().map(job).collect();
    let folder = Folder::make("ptx-dsl-oracle")?;
    let judged = parallel::map(&jobs, |job| {
        let head = head(job.target, job.version, job.samplers);
        let mut lines: Vec<&str> = job.cases.iter().map(|i| cases[*i].text.as_str()).collect();
        let ours = front(&module(&head, &lines, true), head.lines().count(), lines.len());
        let theirs = match ptxas {
            Some(ptxas) => sorted(ptxas, &folder.module(job.number), job.target, &head, &mut lines, &ours)?,
            None => vec![None; lines.len()],
        };
        Ok(ours.into_iter().zip(theirs).map(|(ours, theirs)| Verdict { ours, theirs }).collect::<Vec<_>>())
    });
    let mut verdicts = vec![Verdict::default(); cases.len()];
    for (job, judged) in jobs.iter().zip(judged) {
        let judged: Result<Vec<Verdict>, String> = judged;
        job.cases.iter().zip(judged?).for_each(|(i, verdict)| verdicts[*i] = verdict);
    }
    Ok(verdicts)
}

/// Asks about each case in a module of its own, which ptxas assembles completely, so that other lines have no influence and code
/// generation counts.
pub fn judge_alone(ptxas: &Path, cases: &[&Case]) -> Result<Vec<Verdict>, String> {
    let folder = Folder::make("ptx-dsl-oracle-alone")?;
    let jobs: Vec<(usize, &Case)> = cases.iter().copied().enumerate().collect();
    let judged = parallel::map(&jobs, |(number, case)| {
        let text = alone(case);
        let first = head(case.target, case.version, names_sampler(case)).lines().count();
        let ours = front(&text, first, 1).pop().flatten();
        let (printed, good) = run(ptxas, &folder.module(*number), case.target, &text)?;
        let message =
            || messages(&printed).next().map_or_else(|| format!("ptxas dies: {printed}"), |m| m.text.to_string());
        Ok(Verdict { ours, theirs: (!good).then(message) })
    });
    judged.into_iter().collect()
}

/// A temporary folder for the modules that ptxas reads.
struct Folder(PathBuf);

impl Folder {
    fn make(name: &str) -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        make_directory(&path)?;
        Ok(Folder(path))
    }

    fn module(&self, number: usize) -> PathBuf {
        self.0.join(format!("{number}.ptx"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The message of the front end for each line. Findings of flow in such a module mean nothing.
fn front(text: &str, first: usize, count: usize) -> Vec<Option<String>> {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut out = vec![None; count];
    for d in found.iter().filter(|d| d.severity == Severity::Error && !(600..700).contains(&d.code.number)) {
        let line = ends.partition_point(|end| *end < lexed.bytes(d.span).start);
        if let Some(slot) = line.checked_sub(first).and_then(|i| out.get_mut(i)) {
            slot.get_or_insert_with(|| format!("PTX{:04} {}", d.code.number, d.message));
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
        let fatal = messages(&printed).find(|message| message.is_fatal);
        let Some(Message { line, text, .. }) = fatal else {
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
        if let Some(Message { line, text, .. }) = messages(&printed).find(|message| message.is_fatal) {
            let at = line.checked_sub(before + 1).map(|at| at.min(lines.len() - 1)).filter(|at| !lines[*at].is_empty());
            // Some lines are of the text into which ptxas expands `wmma`.
            let Some(at) = at else {
                let rest = crash(ptxas, file, target, head, lines, &printed)?;
                return Ok(out.into_iter().zip(rest).map(|(before, now)| before.or(now)).collect());
            };
            (out[at], lines[at]) = (Some(text.to_string()), "");
            continue;
        }
        for Message { line, text, .. } in messages(&printed).filter(|message| message.line > before) {
            if let Some(slot) = out.get_mut(line - before - 1) {
                slot.get_or_insert_with(|| text.to_string());
            }
        }
        return Ok(out);
    }
}

/// A message of ptxas.
struct Message<'a> {
    line: usize,
    text: &'a str,
    /// Did ptxas stop there?
    is_fatal: bool,
}

fn messages(printed: &str) -> impl Iterator<Item = Message<'_>> {
    printed.lines().filter_map(|l| {
        let (number, rest) = l.split_once(", line ")?.1.split_once(';')?;
        let (kind, text) = rest.split_once(':')?;
        let is_fatal = kind.trim() == "fatal";
        let is_message = is_fatal || kind.trim() == "error";
        is_message.then(|| Some(Message { line: number.parse().ok()?, text: text.trim(), is_fatal }))?
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
        .arg(format!("-arch={}", architecture_of(target)))
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
