//! Parses the command line.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use clap_complete::Shell;
use ptx_dsl_frontend::check::Options;
use ptx_dsl_frontend::isa::target;
use ptx_dsl_frontend::levels;

/// The command line.
pub fn command() -> Command {
    let command = commands();
    #[cfg(feature = "debug")]
    let command = command.subcommand(debug());
    command
}

/// `ptx-dsl debug`
#[cfg(feature = "debug")]
pub fn debug() -> Command {
    crate::run::debug::command().args(LEVELS.iter().map(level_argument)).arg(group_argument())
}

fn commands() -> Command {
    Command::new("ptx-dsl")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Checks and runs PTX files, explains errors, describes instructions, formats and prints")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("check")
                .about("Reports everything that is wrong with PTX files, and with the `ptx!` macros of Rust files (.rs)")
                .after_help(
                    "Lines and columns count from 1; a column counts characters (Unicode scalar values, a tab is one), and the end\n\
                     column is the one after the last character. The exit status is 0 if there is no error, 1 if there is one, 2 if a file\n\
                     cannot be read or the arguments are wrong.",
                )
                .args([
                    files().help(
                        "A file, a folder (its .ptx files, and .rs files with `ptx!`), or a pattern such as 'k/**/*.ptx'; `-` is standard \
                         input, `@list.txt` a file with a path on each line",
                    ),
                    target_argument(),
                    version_argument(),
                    Arg::new("quiet")
                        .long("quiet")
                        .short('q')
                        .action(ArgAction::SetTrue)
                        .help("Shows errors only: no warnings, and no counts"),
                ])
                .args(LEVELS.iter().map(level_argument))
                .arg(group_argument())
                .arg(
                    Arg::new("format")
                        .long("message-format")
                        .value_name("FORMAT")
                        .value_parser(["human", "json", "sarif"])
                        .default_value("human")
                        .help(
                            "`json`: for each diagnostic an object on a line of standard output: file, line, column, end_line, \
                             end_column, code, class, severity, message, labels, notes, help. `sarif`: one document of SARIF 2.1.0, for code scanning",
                        ),
                ),
        )
        .subcommand(crate::run::arguments::command().args(LEVELS.iter().map(level_argument)).arg(group_argument()))
        .subcommand(crate::resources::command())
        .subcommand(crate::run::arguments::profile_command().args(LEVELS.iter().map(level_argument)).arg(group_argument()))
        .subcommand(
            Command::new("lsp").about("Serves an editor: the language server of PTX files, on standard input and output"),
        )
        .subcommand(
            Command::new("doctor").about("Says which driver, GPUs and ptxas this machine has, and what to do about those that are missing"),
        )
        .subcommand(
            Command::new("explain")
                .about("Explains an error code, with a wrong and a right example")
                .arg(Arg::new("code").value_name("CODE").help("Such as PTX0207; without it, all codes in short")),
        )
        .subcommand(
            Command::new("isa")
                .about("Describes an instruction: forms, versions and targets, rules, whether the host runs it")
                .arg(
                    Arg::new("opcode")
                        .value_name("OPCODE")
                        .help("Such as mbarrier.arrive; without it, the families"),
                ),
        )
        .subcommand(
            Command::new("fmt")
                .about("Formats PTX files, and the `ptx!` macros of Rust files (.rs), in place. Only indentation and white space change")
                .arg(files())
                .arg(
                    Arg::new("check")
                        .long("check")
                        .action(ArgAction::SetTrue)
                        .help("Writes nothing, names the files that would change, and returns 1 if there are any"),
                )
                .arg(
                    Arg::new("write")
                        .long("write")
                        .action(ArgAction::SetTrue)
                        .conflicts_with("check")
                        .help("Writes the files, as without an option"),
                ),
        )
        .subcommand(
            Command::new("print")
                .visible_alias("expand")
                .about("Prints modules as ptx-dsl writes them: checked, qualifiers in the manual's order, with their comments")
                .after_help(
                    "A module is printed if it is legal PTX. Findings of protocol and flow (PTX06xx), and others whose level can be\n\
                     set, are shown on standard error and stop nothing. The exit status is 0 if every module was printed, 1 if one has\n\
                     another error, 2 if a file cannot be read or the arguments are wrong.",
                )
                .args([files(), target_argument(), version_argument()]),
        )
        .subcommand(
            Command::new("layout")
                .about("Draws the layouts of tiles that modules in Rust declare: which columns lie at which place of each row")
                .args([files(), target_argument(), version_argument()]),
        )
        .subcommand(
            Command::new("completions")
                .about("Writes the completions for a shell")
                .after_help("bash: `ptx-dsl completions bash > ~/.local/share/bash-completion/completions/ptx-dsl`")
                .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(clap::value_parser!(Shell))),
        )
        .subcommand(
            Command::new("man")
                .about("Writes the man pages, one for each command")
                .after_help("For example `ptx-dsl man ~/.local/share/man/man1`, then `man ptx-dsl-check`")
                .arg(
                    Arg::new("folder")
                        .value_name("FOLDER")
                        .required(true)
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("An existing folder"),
                ),
        )
}

/// What a level does to findings.
pub const LEVELS: [(&str, &str); 3] = [
    ("allow", "Hides these findings; if several levels apply to a finding, the last counts"),
    ("warn", "Makes these findings warnings"),
    ("deny", "Makes these findings errors"),
];

fn level_argument((name, help): &(&'static str, &'static str)) -> Arg {
    Arg::new(*name)
        .long(*name)
        .value_name("CODE|CLASS|GROUP")
        .action(ArgAction::Append)
        .value_parser(Named::from_text)
        .help(*help)
}

fn group_argument() -> Arg {
    Arg::new("group")
        .long("group")
        .value_name("NAME=CODE,...")
        .action(ArgAction::Append)
        .value_parser(OwnGroup::from_text)
        .help("Names several codes and classes, for `--allow`, `--warn` and `--deny`")
}

/// What a level names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A code or a class.
    Selector(levels::Selector),
    /// A group of `--group`.
    Group(String),
}

impl Named {
    fn from_text(text: &str) -> Result<Named, String> {
        match levels::Selector::from_name(text) {
            Some(levels::Selector::Code(code)) if !levels::is_lint(code) => {
                Err(format!("the level of {text} cannot be set; that of warnings and of PTX06xx can"))
            }
            Some(selector) => Ok(Named::Selector(selector)),
            None if text.starts_with("PTX") || !is_name(text) => {
                Err("write a code such as `PTX0603`, `protocol`, `suspicious`, `performance`, `warnings`, or a group of `--group`"
                    .into())
            }
            None => Ok(Named::Group(text.to_owned())),
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// `--group strict=PTX0605,PTX0651`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnGroup {
    /// `strict`
    pub name: String,
    /// Codes, classes and other groups.
    pub members: Vec<Named>,
}

impl OwnGroup {
    fn from_text(text: &str) -> Result<OwnGroup, String> {
        let (name, members) = text.split_once('=').ok_or("write a group as in `strict=PTX0605,PTX0651`")?;
        if !is_name(name) || !matches!(Named::from_text(name), Ok(Named::Group(_))) {
            return Err(format!("`{name}` cannot be the name of a group"));
        }
        let members = members.split(',').map(Named::from_text).collect::<Result<_, _>>()?;
        Ok(OwnGroup { name: name.to_owned(), members })
    }
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
            None => Err(format!("`{name}` is not a target; the newest is `{}`", newest())),
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
