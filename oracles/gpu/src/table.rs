//! The verdicts, and the table of them.

use ptx_dsl::agree::AgreeError;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What came of a launch.
#[derive(Debug)]
pub enum Verdict {
    /// All buffers have the same bits.
    Equal,
    /// All numbers are within the bound.
    Within,
    /// It has not run on the GPU, for this reason.
    Reason(String),
    /// It differs, or failed.
    Differs(String),
}

impl Verdict {
    /// The verdict of devices that do not agree. A GPU that refuses a launch is a reason.
    pub fn of(error: &AgreeError) -> Self {
        match error {
            AgreeError::Failed { error: ptx_dsl::Error::Device { problem, .. }, .. } => {
                use ptx_dsl::cuda::GpuError;
                match problem.downcast_ref() {
                    Some(problem @ (GpuError::PtxVersion { .. } | GpuError::Target { .. } | GpuError::Jit { .. })) => {
                        Verdict::Reason(problem.to_string().lines().next().unwrap_or_default().to_owned())
                    }
                    _ => Verdict::Differs(error.to_string()),
                }
            }
            AgreeError::Failed { error: ptx_dsl::Error::NotYet { instruction, .. }, .. } => {
                Verdict::Reason(format!("the host cannot run `{instruction}` yet"))
            }
            _ => Verdict::Differs(error.to_string()),
        }
    }

    /// Whether the GPU's context is lost.
    pub fn has_lost_the_context(&self) -> bool {
        matches!(self, Verdict::Differs(how) if how.contains("context is lost") || how.contains("context was lost"))
    }

    /// The verdict as a line.
    pub fn line(&self) -> String {
        let (kind, text) = match self {
            Verdict::Equal => ("equal", ""),
            Verdict::Within => ("within", ""),
            Verdict::Reason(reason) => ("reason", reason.as_str()),
            Verdict::Differs(how) => ("differs", how.as_str()),
        };
        format!("{kind}\t{}", text.replace('\n', "\x0b"))
    }

    /// The verdict of such a line.
    pub fn of_line(line: &str) -> Self {
        let (kind, text) = line.split_once('\t').unwrap_or((line, ""));
        let text = text.replace('\x0b', "\n");
        match kind {
            "equal" => Verdict::Equal,
            "within" => Verdict::Within,
            "reason" => Verdict::Reason(text),
            _ => Verdict::Differs(text),
        }
    }
}

/// The launches of one kind.
pub struct Set {
    /// What they are.
    pub title: String,
    /// Each with its name.
    pub launches: Vec<(String, Verdict)>,
}

impl Set {
    /// How many differ.
    pub fn failures(&self) -> usize {
        self.launches.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Differs(_))).count()
    }
}

/// The table in Markdown, and the launches that are not equal.
pub fn table(sets: &[Set]) -> String {
    let mut text =
        "| launches | all | bit-equal to the host | within the bound | not run | differ |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut rest = String::new();
    for Set { title, launches } in sets {
        let count = |wanted: fn(&Verdict) -> bool| launches.iter().filter(|(_, verdict)| wanted(verdict)).count();
        let equal = count(|verdict| matches!(verdict, Verdict::Equal));
        let within = count(|verdict| matches!(verdict, Verdict::Within));
        let reasons = count(|verdict| matches!(verdict, Verdict::Reason(_)));
        let differ = count(|verdict| matches!(verdict, Verdict::Differs(_)));
        let _ = writeln!(text, "| {title} | {} | {equal} | {within} | {reasons} | {differ} |", launches.len());
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, verdict) in launches {
            match verdict {
                Verdict::Reason(reason) => by_reason.entry(reason).or_default().push(name),
                Verdict::Differs(how) => rest.push_str(&format!("\n{title}: {name} differs: {how}\n")),
                Verdict::Equal | Verdict::Within => {}
            }
        }
        for (reason, names) in by_reason {
            let few: Vec<&str> = names.iter().take(5).copied().collect();
            let _ = writeln!(rest, "\n{title}: {} not run, such as {}: {reason}", names.len(), few.join(", "));
        }
    }
    text + &rest
}
