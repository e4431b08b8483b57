//! Kinds of options that several tasks have.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

/// An option without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// An option with a number.
pub fn number(name: &'static str, help: &'static str) -> Arg {
    value(name, "N", value_parser!(u64).into(), help)
}

/// An option with a path.
pub fn path(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    value(name, value_name, ValueParser::path_buf(), help)
}

/// An option with a text.
pub fn text(name: &'static str, help: &'static str) -> Arg {
    value(name, "NAME", ValueParser::string(), help)
}

fn value(name: &'static str, value_name: &'static str, parser: ValueParser, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name).value_parser(parser).help(help)
}

/// Names without an option.
pub fn names(help: &'static str) -> Arg {
    Arg::new("names").value_name("NAME").num_args(0..).help(help)
}

/// The values of an option that may occur several times, or of `names`.
pub fn list(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// The number of an option.
pub fn number_of(matches: &ArgMatches, name: &str) -> Option<u64> {
    matches.get_one::<u64>(name).copied()
}
