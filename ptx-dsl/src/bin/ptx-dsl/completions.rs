//! `completions` and `man`: what clap writes of the command line.

use std::path::PathBuf;

use clap::ArgMatches;
use clap_complete::{Shell, generate};

use crate::arguments::command;

/// `ptx-dsl completions`. Returns the exit status.
pub fn completions(matches: &ArgMatches) -> u8 {
    let Some(shell) = matches.get_one::<Shell>("shell") else { return 2 };
    let mut text = Vec::new();
    generate(*shell, &mut command(), "ptx-dsl", &mut text);
    crate::write_bytes(&text);
    0
}

/// `ptx-dsl man`.
pub fn man(matches: &ArgMatches) -> Result<(), String> {
    let Some(folder) = matches.get_one::<PathBuf>("folder") else { return Err("name a folder".into()) };
    let mut all = command().disable_help_subcommand(true);
    all.build();
    clap_mangen::generate_to(all, folder).map_err(|error| format!("cannot write to {}: {error}", folder.display()))
}
