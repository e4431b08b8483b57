//! `debug`: a debugger for a kernel of a PTX file, at a prompt or for an editor.

use clap::{Arg, ArgAction, ArgMatches, Command};
use ptx_dsl::load::{Kernel, Options};
use ptx_dsl_debug::prompt::{HELP, Prompt};
use ptx_dsl_debug::{Session, Source};
use std::io::{IsTerminal, stdin, stdout};

use super::launch::{self, Prepared};
use super::runs::launch_once;
use super::{FAULT, arguments, arguments_of, several};
use crate::check;
use crate::input::{Input, input};
use crate::names;
use crate::rust_file::is_text_of_rust;

/// The options of `run` that a debugger does not have.
const NOT: [&str; 15] = [
    "out",
    "print",
    "keep",
    "format",
    "explore",
    "gpu",
    "compare",
    "checked",
    "weak",
    "threads",
    "trace",
    "timeline",
    "profile",
    "any-layout",
    "written-before",
];

/// `ptx-dsl debug`
pub fn command() -> Command {
    let after = format!(
        "Arguments are those of `ptx-dsl run`. At the prompt:\n\n{HELP}\n\
         The exit status is 0, 2 if the text or the arguments are wrong, or 3 if the last launch has ended with a fault."
    );
    let command = arguments::command()
        .name("debug")
        .about("Runs a kernel of a PTX file step by step, forwards and backwards")
        .after_help(after)
        .mut_arg("file", |file| file.required(false))
        .arg(Arg::new("dap").long("dap").action(ArgAction::SetTrue).help(
            "Speaks the Debug Adapter Protocol on standard input and output: an editor starts it so, and sends the file and its arguments",
        ))
        .arg(
            Arg::new("echo")
                .long("echo")
                .action(ArgAction::SetTrue)
                .help("Repeats each command that standard input gives, for transcripts"),
        );
    NOT.iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)))
}

/// `ptx-dsl debug`: the exit code.
pub fn run(matches: &ArgMatches) -> Result<u8, String> {
    if matches.get_flag("dap") {
        let result = ptx_dsl_debug::dap::serve(stdin(), &mut stdout(), &|program, options| {
            let line = ["debug".to_owned()].into_iter().chain(options.iter().cloned()).chain([program.to_owned()]);
            let matches = crate::arguments::debug().try_get_matches_from(line).map_err(|e| e.to_string())?;
            session(&matches)
        });
        return result.map(|()| 0).map_err(|e| e.to_string());
    }
    let mut prompt = Prompt::new(session(matches)?);
    let echo = matches.get_flag("echo") || !stdin().is_terminal();
    let well = prompt.run(&mut stdin().lock(), &mut stdout().lock(), echo).map_err(|e| e.to_string())?;
    Ok(if well { 0 } else { FAULT })
}

/// A session of the launch that the options ask for.
fn session(matches: &ArgMatches) -> Result<Session, String> {
    if let Some(id) = NOT.iter().find(|id| matches.value_source(id).is_some_and(|from| from != DEFAULT)) {
        return Err(format!("`debug` has no `--{id}`"));
    }
    let path: &std::ffi::OsString = matches.get_one("file").ok_or("the file is missing")?;
    let file = input(path);
    if matches!(file, Input::Stdin) {
        return Err("standard input has the commands: write the path of a file".into());
    }
    let (text, name) = (file.read()?, file.name());
    if is_text_of_rust(&file, &text) {
        return Err(format!("`{name}` is Rust; `ptx-dsl print {name}` prints its modules, which `debug` takes"));
    }
    let levels = check::levels(matches)?;
    let entry = matches.get_one::<String>("entry").map(|asked| names::entry(&text, asked));
    let entry = entry.as_deref();
    let options = levels.iter().fold(Options::new().name(&name), |options, (level, of)| options.level(*level, *of));
    let options = entry.iter().fold(options, |options, entry| options.entry(entry));
    let module = options.parse(&text).map_err(|error| error.to_string())?;
    let kernel: Kernel = match (entry, module.kernels()) {
        (Some(entry), _) => module.kernel(entry).map_err(|e| e.to_string())?.clone(),
        (None, [kernel]) => kernel.clone(),
        (None, []) => return Err(format!("`{name}` has no kernel")),
        (None, [..]) => return Err(several(&module)),
    };
    let values = arguments_of(matches, &kernel, &file)?;
    // errors of the options are found before the launch
    launch::configured(ptx_dsl::Host::new(), matches, &kernel)?;
    let source = Source { name, text, types: kernel.register_types() };
    let matches = matches.clone();
    Ok(Session::new(source, move |host| match launch::configured(host, &matches, &kernel) {
        Ok(Prepared { host, of }) => launch_once(&kernel, &host, of.launch, &mut values.clone()),
        // as above
        Err(_) => Ok(ptx_dsl::Report::default()),
    }))
}

const DEFAULT: clap::parser::ValueSource = clap::parser::ValueSource::DefaultValue;
