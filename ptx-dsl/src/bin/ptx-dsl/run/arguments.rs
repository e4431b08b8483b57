//! The command line of `run`.

use clap::{Arg, ArgAction, Command};

use super::data::number;
use super::spec;

/// The options that ask for a launch. Without them `run` says what the kernel wants.
pub const LAUNCH: [&str; 14] = [
    "gpu", "grid", "block", "cluster", "shared", "arg", "out", "print", "explore", "schedule", "seed", "trace",
    "timeline", "profile",
];

const AFTER: &str = "\
An argument is a number (`a=2.5`, `a=f16:2.5`), a new buffer (`x=f32[1024]:iota`, `x=[64,64]`), a file, or `null`:
  x=f32[1024]             zeros; `:` is followed by `zeros`, `ones`, `iota`, `random(SEED)` or a number
  x=@in.npy               the elements of an array
  x=@in.bin:f32[1024]     raw bytes, little endian
  m=tensormap(f16[128,64]:iota,box=64x32,swizzle=128)
                          a tensor map, with its tensor: data as above, or the name of another parameter
Types are those of PTX (`f16`, `u32`, `b8`) or Rust (`i32`), and `e4m3`, `e5m2`, `e2m3`, `e3m2`, `e2m1`, `ue8m0`, of which `e2m1` has
two elements in a byte. A type that is left out is what the module says: the Rust type
after the name of the parameter, or the type of all accesses through it. `random` makes floats in [-1, 1), and integers of
all values. `0x` begins the bit pattern of a float. A parameter that is a struct takes its bytes: `s=u32[4]:7`.

Without options, `run` prints a command line to start from, with every parameter of each kernel.

The exit status is 0 if the kernel ran, 1 if the text has errors, 2 if the arguments are wrong or a file cannot be read or written,
3 if the kernel faults, or has an instruction that the host cannot run yet.";

/// `--profile`
fn profile() -> Arg {
    Arg::new("profile")
        .long("profile")
        .value_name("FILE")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("-")
        .conflicts_with_all(["gpu", "explore", "checked", "weak", "trace", "timeline", "threads"])
        .help(
            "Counts what each line does (instructions, sectors, bank conflicts) and prints a listing; `--profile=FILE` writes it to a file, \
             as JSON if the name ends with `.json`",
        )
}

const AFTER_PROFILE: &str = "\
The listing has a line for each line of the source that has code:
  executed   instructions, by warp; the bar compares lines
  lanes      lanes of 32 that take effect, on average
  sectors    32-byte sectors that accesses to global memory move; ideal: the fewest that could hold the bytes asked for
  wavefr.    passes over the 32 banks of shared memory; conflicts: those that bank conflicts add
The three lines that lose the most are marked. Below it are sums:
  mix        parts of all instructions, by class, as in Nsight Compute
  flops      additions and multiplications by threads; tensor cores: those of products of matrices, by shape and type
  DRAM       sectors of global memory that the launch touches, each once: no cache can spare them
  copies     bytes of asynchronous copies; padding outside of a tensor, and what multicast spares, for themselves
  waits      turns of the host for which warps waited, and for whom; turns are regions that warps run, in the order of the host
  least time the roofline of each card: bytes and operations by published peaks. It is a bound, not an estimate
The counters are those of the PTX, equal to Nsight Compute's on an H200 where ptxas keeps the access. There are no times. In JSON each
counter also has the name of Nsight Compute. The options are those of `ptx-dsl run`.";

/// `ptx-dsl profile`: `run` with a listing.
pub fn profile_command() -> Command {
    command()
        .name("profile")
        .about("Runs a kernel on the host and counts what each line does: instructions, sectors, wavefronts, bank conflicts")
        .after_help(AFTER_PROFILE)
        .mut_arg("file", |arg| arg.required(false).required_unless_present("diff"))
        .mut_arg("profile", |arg| arg.default_value("-").help("Writes the listing to a file, as JSON if the name ends with `.json`"))
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("JSON instead of the listing, with the names of Nsight Compute beside the counters"),
        )
        .args([
            Arg::new("html").long("html").value_name("FILE").help(
                "Also writes one page for a browser: the source with its counters, and the timeline of a second run beside it",
            ),
            Arg::new("card").long("card").value_name("NAME").action(ArgAction::Append).help(
                "Also shows the roofline of this card (A100, L40S, H100, H200, B200) in full, with waves of CTAs; a ptxas says how many fit",
            ),
            Arg::new("diff").long("diff").value_name("JSON").num_args(2).conflicts_with_all(["file", "arg", "html", "json"]).help(
                "Compares two files of `--json`: each line whose counters differ, before and now; the exit status is 1 if something does",
            ),
        ])
}

/// `ptx-dsl run`
pub fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        // a number that is wrong, not an option that is unknown
        Arg::new(name).long(name).value_name(value).help(help).allow_negative_numbers(true)
    };
    let dims = |name, help| option(name, "X[,Y[,Z]]", help).value_parser(spec::dims);
    Command::new("run")
        .about("Runs a kernel of a PTX file on the host, or on a GPU")
        .after_help(AFTER)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(clap::value_parser!(std::ffi::OsString))
                .help("PTX, or Rust with `ptx!`; `-` is standard input"),
        )
        .args([
            option("entry", "NAME", "The kernel, if the module has several"),
            dims("grid", "CTAs; one cluster by default"),
            dims("block", "Threads of a CTA; by default `.reqntid` or else `.maxntid`"),
            dims("cluster", "CTAs of a cluster; by default `.reqnctapercluster` or else 1"),
            option("shared", "BYTES", "Dynamic shared memory").value_parser(number::<u32>),
            option("heap", "BYTES", "The heap of `malloc`; 8 MiB by default").value_parser(number::<u64>),
            Arg::new("cooperative")
                .long("cooperative")
                .action(ArgAction::SetTrue)
                .help("All CTAs are resident at the same time, and `grid.sync()` works"),
            option("arg", "NAME=VALUE", "The value of a parameter, named or by its position from 0; see below")
                .action(ArgAction::Append)
                .value_parser(spec::argument),
            option("out", "NAME=FILE", "Writes a buffer when the kernel has ended, as .npy or as raw bytes")
                .action(ArgAction::Append)
                .value_parser(spec::output),
            option("print", "NAME[FIRST..END]", "Prints elements of a buffer when the kernel has ended")
                .action(ArgAction::Append)
                .value_parser(spec::shown),
            Arg::new("keep")
                .long("keep")
                .action(ArgAction::SetTrue)
                .help("After a fault, also writes and prints what `--out` and `--print` name, as far as it was written"),
            Arg::new("format")
                .long("message-format")
                .value_name("FORMAT")
                .value_parser(["human", "json"])
                .default_value("human")
                .help("`json`: findings, faults, outputs and the summary as objects, each on a line of standard output"),
            option("seed", "N", "Schedules pseudo-randomly, from this seed").value_parser(number::<u64>),
            option(
                "explore",
                "N[,HOW]",
                "Tries at most N schedules; stops at the first fault, which says how to repeat it. HOW is `pct`, `pct=DEPTH` or \
                 `exhaustive`, which is `--checked` too",
            )
            .value_parser(spec::exploration),
            option("schedule", "TEXT", "Repeats the schedule of a fault").conflicts_with_all(["explore", "seed"]),
            option("gpu", "N", "Runs the kernel on a GPU, the first (0) or another, through the CUDA driver")
                .num_args(0..=1)
                .default_missing_value("0")
                .value_parser(number::<usize>)
                .conflicts_with_all([
                    "explore", "seed", "schedule", "checked", "weak", "trace", "timeline", "threads", "resident",
                ]),
            Arg::new("compare")
                .long("compare")
                .action(ArgAction::SetTrue)
                .requires("gpu")
                .help("Runs the kernel on the host too, and names the buffers that differ from those of the GPU"),
            Arg::new("checked")
                .long("checked")
                .action(ArgAction::SetTrue)
                .help("Checks every access, for example for reads of memory that nothing has written"),
            Arg::new("weak")
                .long("weak")
                .action(ArgAction::SetTrue)
                .help("Memory is weak: loads may read older stores, as the memory model allows; it is `--checked` too, and slow"),
            Arg::new("any-layout")
                .long("any-layout")
                .action(ArgAction::SetTrue)
                .help("Does not compare the layouts of matrices with those of tensor copies, as `--checked` does"),
            Arg::new("strict-shuffles")
                .long("strict-shuffles")
                .action(ArgAction::SetTrue)
                .help("With `--checked`: reports each `shfl.sync` from a lane outside of its mask, even if nothing uses the value"),
            Arg::new("mma-in-order")
                .long("mma-in-order")
                .action(ArgAction::SetTrue)
                .help("Executes all `tcgen05.mma` of a thread in the order of issue"),
            option(
                "written-before",
                "NAME",
                "The grid before, which may still run (programmatic dependent launch), writes this buffer: what the kernel does with it \
                 before `griddepcontrol.wait` is a fault; it is `--checked` too",
            )
            .action(ArgAction::Append)
            .conflicts_with_all(["explore", "gpu", "weak", "trace", "timeline"]),
            option("resident", "N", "Clusters that are resident at a time; 16 by default")
                .value_parser(spec::positive),
            Arg::new("start-in-order")
                .long("start-in-order")
                .action(ArgAction::SetTrue)
                .help("Clusters start in the order of their numbers in every schedule, as on today's GPUs"),
            option("threads", "N", "Host threads; 0: one for each hardware thread")
                .value_parser(number::<usize>),
            option(
                "trace",
                "FILE",
                "Writes a timeline as JSON, which https://ui.perfetto.dev opens; a microsecond is a turn",
            )
            .conflicts_with_all(["weak", "threads"]),
            option("timeline", "FILE", "Writes the timeline as a page for a browser")
                .conflicts_with_all(["weak", "threads"]),
            profile(),
            option("step-limit", "N", "Ends the launch after N turns; a turn is one region, run by one warp")
                .value_parser(number::<u64>),
        ])
}
