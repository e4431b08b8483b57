//! `ptx-dsl profile`: what is written of a profile, rooflines of cards, and the difference of two profiles.

use clap::ArgMatches;
use ptx_dsl::load::Kernel;
use ptx_dsl::profile::{Card, Profile, Statement};
use ptx_dsl::trace::Timeline;
use serde_json::Value;

use crate::resources;

/// A profile, with what else is written of its launch.
pub struct Profiled<'p> {
    pub profile: &'p Profile,
    /// The timeline of the same launch, if it is wanted.
    pub timeline: Option<Timeline>,
    pub kernel: &'p Kernel,
    /// The PTX of the module.
    pub text: &'p str,
}

/// Is a timeline wanted beside the profile?
pub fn wants_timeline(matches: &ArgMatches) -> bool {
    html(matches).is_some()
}

fn html(matches: &ArgMatches) -> Option<&String> {
    matches.try_get_one::<String>("html").ok().flatten()
}

/// Prints a profile, or writes it to files. Returns what could not be written.
pub fn write(of: &Profiled<'_>, path: &str, matches: &ArgMatches) -> Result<Vec<String>, String> {
    let asked = matches.try_get_one::<bool>("json").ok().flatten().is_some_and(|json| *json);
    let text = if asked || path.ends_with(".json") {
        of.profile.to_json()
    } else {
        of.profile.listing() + &rooflines(of, matches)?
    };
    let mut failures = Vec::new();
    if path == "-" {
        crate::write_out(&text);
    } else {
        failures.extend(super::write(path, text.as_bytes()).err());
    }
    if let Some(path) = html(matches) {
        let page = match &of.timeline {
            Some(timeline) => of.profile.to_html_with(timeline),
            None => of.profile.to_html(),
        };
        failures.extend(super::write(path, page.as_bytes()).err());
    }
    Ok(failures)
}

/// The rooflines of the cards that are asked for.
fn rooflines(of: &Profiled<'_>, matches: &ArgMatches) -> Result<String, String> {
    let Ok(Some(names)) = matches.try_get_many::<String>("card") else { return Ok(String::new()) };
    let dynamic = matches.get_one("shared").copied().unwrap_or(0);
    let mut out = String::new();
    for name in names {
        let known = || Card::ALL.map(|card| card.peaks().name).join("`, `");
        let card = Card::from_name(name).ok_or_else(|| format!("`{name}` is no card; these are: `{}`", known()))?;
        let fits =
            resources::ctas_per_sm(of.text, of.kernel.name(), card.peaks().target, of.profile.threads_per_cta, dynamic);
        out += "\n";
        out += &of.profile.roofline(card).report(of.profile, fits);
    }
    Ok(out)
}

/// `ptx-dsl profile --diff BEFORE NOW`: 1 if something differs.
pub fn diff(files: &[&String]) -> Result<u8, String> {
    let [before, now] = files else { return Err("`--diff` takes two files".to_owned()) };
    let difference = read(now)?.compared_with(&read(before)?);
    crate::write_out(&difference);
    Ok(u8::from(!difference.ends_with("all: nothing changed\n") || difference.lines().count() > 1))
}

/// A profile that `--json` has written.
fn read(path: &str) -> Result<Profile, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let wrong = || format!("`{path}` is not a profile of `ptx-dsl profile --json`");
    let profile: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
    let name = |field: &str| profile[field].as_str().ok_or_else(wrong);
    let statements = profile["statements"].as_array().ok_or_else(wrong)?;
    let statements = statements.iter().map(|s| {
        let counters = s["counters"].as_object()?;
        let value = |name: &str| counters.get(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Statement::recorded(s["text"].as_str()?, s["source_line"].as_u64()? as u32, value))
    });
    let statements = statements.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    Ok(Profile::recorded(name("kernel")?, name("file")?, statements))
}
