//! The arguments.

use clap::{Arg, ArgAction, Command};
use ptx_dsl_syntax::check::Options;
use ptx_dsl_syntax::isa::target;
use ptx_dsl_syntax::levels;

/// The command line.
pub fn command() -> Command {
    Command::new("ptx-dsl")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Checks PTX files, explains errors, describes instructions, formats and prints")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("check")
                .about("Reports everything that is wrong with PTX files")
                .after_help(
                    "Lines and columns count from 1; a column counts characters (Unicode scalar values, a tab is one), and the end\n\
                     column is the one behind the last character. Returned is 0 if there is no error, 1 if there is one, 2 if a file\n\
                     cannot be read or the arguments are wrong.",
                )
                .args([files(), target_argument(), version_argument()])
                .args(LEVELS.iter().map(level_argument))
                .arg(
                    Arg::new("format")
                        .long("message-format")
                        .value_name("FORMAT")
                        .value_parser(["human", "json"])
                        .default_value("human")
                        .help(
                            "`json`: for each diagnostic an object on a line of standard output: file, line, column, end_line, \
                             end_column, code, severity, message, labels, notes, help",
                        ),
                ),
        )
        .subcommand(
            Command::new("explain")
                .about("Explains an error code, with a wrong and a right example")
                .arg(Arg::new("code").value_name("CODE").help("Such as PTX0207; all codes in short if there is none")),
        )
        .subcommand(
            Command::new("isa")
                .about("Describes an instruction: forms, versions and targets, rules, whether the host runs it")
                .arg(
                    Arg::new("opcode")
                        .value_name("OPCODE")
                        .help("Such as mbarrier.arrive; the families if there is none"),
                ),
        )
        .subcommand(
            Command::new("fmt")
                .about("Formats PTX files in place: indentation and white space, no token and no comment is changed")
                .arg(files())
                .arg(
                    Arg::new("check")
                        .long("check")
                        .action(ArgAction::SetTrue)
                        .help("Writes nothing, names the files that would change, and returns 1 if there are any"),
                ),
        )
        .subcommand(
            Command::new("print")
                .about("Prints modules as ptx-dsl writes them: checked, qualifiers in the manual's order, no comments")
                .after_help(
                    "A module is printed if it is legal PTX. Findings of protocol and flow (PTX06xx), and others whose level can be\n\
                     set, are shown on standard error and stop nothing. Returned is 0 if every module was printed, 1 if one has\n\
                     another error, 2 if a file cannot be read or the arguments are wrong.",
                )
                .args([files(), target_argument(), version_argument()]),
        )
}

/// What a level does with findings.
pub const LEVELS: [(&str, &str); 3] = [
    ("allow", "Leaves findings of this code out; of several levels for a code the last counts"),
    ("warn", "Makes findings of this code warnings"),
    ("deny", "Makes findings of this code errors"),
];

fn level_argument((name, help): &(&'static str, &'static str)) -> Arg {
    Arg::new(*name)
        .long(*name)
        .value_name("CODE")
        .action(ArgAction::Append)
        .value_parser(|text: &str| {
            let code = text.strip_prefix("PTX").filter(|d| d.len() == 4).and_then(|d| d.parse::<u16>().ok());
            match code {
                Some(code) if levels::is_lint(code) => Ok(code),
                Some(_) => Err(format!("the level of {text} cannot be set; that of warnings and of PTX06xx can")),
                None => Err("a code is written as in `PTX0603`".to_string()),
            }
        })
        .help(*help)
}

fn files() -> Arg {
    Arg::new("files")
        .value_name("FILE")
        .num_args(1..)
        .required(true)
        .value_parser(clap::value_parser!(std::ffi::OsString))
        .help("`-` is standard input, `@list.txt` a file with a path on each line")
}

fn target_argument() -> Arg {
    Arg::new("target")
        .long("target")
        .value_name("sm_NN")
        .value_parser(|name: &str| match target::target(name) {
            Some(t) => Ok(t.name),
            None => Err(format!("`{name}` is no target; the newest is `{}`", newest())),
        })
        .help("For this target instead of that of `.target`")
}

fn newest() -> &'static str {
    target::TARGETS.last().map_or("", |t| t.name)
}

fn version_argument() -> Arg {
    let newest = Options::default().ceiling;
    Arg::new("version")
        .long("ptx")
        .value_name("M.m")
        .value_parser(move |text: &str| {
            let parts = text.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
            match parts {
                Some((Ok(major), Ok(minor))) if (major, minor) <= newest && major > 0 => {
                    Ok::<(u32, u32), String>((major, minor))
                }
                Some((Ok(_), Ok(_))) => Err(format!("the newest version that is known is {}.{}", newest.0, newest.1)),
                _ => Err("a version is written as in `8.6`".to_string()),
            }
        })
        .help("For this PTX ISA version instead of that of `.version`")
}
