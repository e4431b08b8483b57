//! A plain prompt: a line is a command.

use crate::breaks::{LineBreak, PhaseBreak};
use crate::expression::{Condition, Expression, integer, ty};
use crate::session::{Ended, Moment, Outcome, Reason, Session, Stop};
use crate::words;
use ptx_dsl_runtime::debug::{LaneState, WarpId};
use std::io::{BufRead, Write};

/// The commands.
pub const HELP: &str = "\
break LINE [if CONDITION]  stop before a line; a condition such as `%r1 == 5 && lane < 4`
break mbarrier OFFSET      stop where a phase of the mbarrier in shared memory completes
watch MEMORY               stop after a write to memory: `[shared + 16]:f32`, `[%rd1]`, `shared 16 64`
delete N                   remove a breakpoint
continue                   run to the next breakpoint, or the end
step [N]                   run the next statement of this warp
any [N]                    run the next statement of any warp
until LINE                 run until this warp is before a line
back [N]                   step backwards: to the statement of this warp before
rcontinue                  run backwards to the last breakpoint before now
last REGISTER              go back to the last statement of this warp that wrote a register
goto N                     go to the statement with this number, earlier or later
print EXPRESSION           a register (%r1, %r1[3]), memory ([shared + 16]:f32, [%rd1 + 8]), %tid.x, %ctaid.x; with `as TYPE`, its bits
x SPACE OFFSET BYTES       bytes of shared, global, local, const or param memory
info warps | registers | mbarriers | breaks
warp N [CTA]               look at another warp, of this CTA or of the one with this rank
list [LINE]                the text around a line
where                      where the launch stands
run                        begin again
quit
";

/// A prompt on a session.
pub struct Prompt {
    session: Session,
    /// The warp that commands are about.
    focus: Option<Moment>,
}

/// What follows a command.
enum Next {
    Prompt,
    Quit,
}

impl Prompt {
    /// A prompt on a session, which it starts.
    pub fn new(session: Session) -> Self {
        Prompt { session, focus: None }
    }

    /// Reads commands until the end of the input or `quit`. Returns whether the last launch ended well, or did not end.
    ///
    /// # Errors
    /// The output cannot be written, or the input cannot be read.
    pub fn run(&mut self, input: &mut dyn BufRead, output: &mut dyn Write, echo: bool) -> std::io::Result<bool> {
        self.session.start();
        self.outcome(output)?;
        loop {
            write!(output, "(ptx) ")?;
            output.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                writeln!(output)?;
                break;
            }
            if echo {
                writeln!(output, "{}", line.trim_end())?;
            }
            match self.command(line.trim(), output) {
                Ok(Ok(Next::Prompt)) => {}
                Ok(Ok(Next::Quit)) => break,
                Ok(Err(message)) => writeln!(output, "error: {message}")?,
                Err(error) => return Err(error),
            }
        }
        let well = !matches!(self.session.ended(), Some(Ended::Failed(_)));
        self.session.end();
        Ok(well)
    }

    /// Waits for the outcome of a command, and shows it.
    fn outcome(&mut self, output: &mut dyn Write) -> std::io::Result<()> {
        let outcome = self.session.wait();
        write!(output, "{}", self.session.take_printed())?;
        match outcome {
            Some(Outcome::Stopped(stop)) => {
                self.focus = Some(stop.at);
                self.show(&stop, output)
            }
            Some(Outcome::Ended(Ended::Well(report))) => {
                self.focus = None;
                writeln!(output, "the launch has ended: {} turns, {} instructions", report.turns, report.instructions)
            }
            Some(Outcome::Ended(Ended::Failed(text))) => {
                self.focus = None;
                writeln!(output, "the launch has ended: {text}")
            }
            None => Ok(()),
        }
    }

    fn show(&self, stop: &Stop, output: &mut dyn Write) -> std::io::Result<()> {
        let id = stop.at.warp;
        let cta = self.session.ask(move |machine| machine.ctaid(id)).flatten();
        let program = self.session.program();
        let text = program.map_or("", |program| program.text(stop.line));
        if stop.reason != Reason::Step {
            writeln!(output, "{}", words::reason(&stop.reason))?;
        }
        let who = format!("statement {}, {}{}", stop.at.count, words::warp(id, cta), words::lanes(stop.at.lanes));
        match stop.line {
            0 => writeln!(output, "{who}, between statements"),
            line => writeln!(output, "{who}\n{line:5}  {text}"),
        }
    }

    fn focus(&self) -> Result<Moment, String> {
        self.focus.ok_or_else(|| "the launch has ended; `back`, `goto N` and `run` go on".to_owned())
    }

    fn command(&mut self, line: &str, output: &mut dyn Write) -> std::io::Result<Result<Next, String>> {
        let (name, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(name, rest)| (name, rest.trim()));
        let done = match name {
            "" => Ok(()),
            "quit" | "q" | "exit" => return Ok(Ok(Next::Quit)),
            "help" | "h" | "?" => {
                write!(output, "{HELP}")?;
                Ok(())
            }
            "continue" | "c" | "step" | "s" | "next" | "n" | "any" | "until" | "back" | "b" | "rcontinue" | "rc"
            | "last" | "goto" | "run" | "r" => match self.moves(name, rest, output)? {
                Ok(()) => Ok(()),
                Err(message) => Err(message),
            },
            _ => match self.answer(name, rest) {
                Ok(text) => {
                    write!(output, "{text}")?;
                    Ok(())
                }
                Err(message) => Err(message),
            },
        };
        Ok(done.map(|()| Next::Prompt))
    }

    /// Commands that move the launch.
    fn moves(&mut self, name: &str, rest: &str, output: &mut dyn Write) -> std::io::Result<Result<(), String>> {
        let number = |default: i128| match rest {
            "" => Ok(default),
            text => integer(text).filter(|n| *n > 0).ok_or_else(|| format!("`{text}` is not a number of steps")),
        };
        let repeats = matches!(name, "step" | "s" | "next" | "n" | "any" | "back" | "b");
        let times = match number(1) {
            Ok(times) if repeats => times,
            Err(message) if repeats || name == "goto" || name == "until" => return Ok(Err(message)),
            _ => 1,
        };
        for n in 0..times {
            if let Err(message) = self.start_move(name, rest) {
                return Ok(Err(message));
            }
            if n + 1 == times {
                self.outcome(output)?;
                break;
            }
            // shows only the last of several steps, unless something else stops them
            match self.session.wait() {
                Some(Outcome::Stopped(stop)) if stop.reason == Reason::Step => self.focus = Some(stop.at),
                Some(Outcome::Stopped(stop)) => {
                    self.focus = Some(stop.at);
                    self.show(&stop, output)?;
                    break;
                }
                Some(Outcome::Ended(_)) => {
                    self.focus = None;
                    writeln!(output, "the launch has ended")?;
                    break;
                }
                None => break,
            }
        }
        Ok(Ok(()))
    }

    fn start_move(&mut self, name: &str, rest: &str) -> Result<(), String> {
        let warp = self.focus.map(|at| at.warp);
        match name {
            "run" | "r" => self.session.start(),
            "back" | "b" => self.session.step_back(warp.unwrap_or_default()),
            "rcontinue" | "rc" => self.session.go_back(),
            "goto" => match integer(rest).and_then(|n| u64::try_from(n).ok()) {
                Some(count) => self.session.go_to(count),
                None => return Err("write the number of a statement, as in `goto 120`".into()),
            },
            "last" => return self.session.back_to_write(warp.unwrap_or_default(), rest),
            _ => {
                let at = self.focus()?;
                match name {
                    "continue" | "c" => self.session.go(),
                    "any" => self.session.step_any(),
                    "until" => {
                        let line = line_number(rest)?;
                        if !self.session.run_to_line(Some(at.warp), line) {
                            return Err(self.no_statement(line));
                        }
                    }
                    _ => self.session.step(at.warp),
                }
            }
        }
        Ok(())
    }

    fn no_statement(&self, line: u32) -> String {
        match self.session.program().and_then(|program| program.nearest(line)) {
            Some(next) => format!("line {line} has no statement; the next one is line {next}"),
            None => format!("there is no statement from line {line} on"),
        }
    }

    /// Commands that leave the launch where it is.
    fn answer(&mut self, name: &str, rest: &str) -> Result<String, String> {
        match name {
            "break" => self.set_break(rest),
            "watch" => {
                let at = self.focus()?;
                words::watch(&mut self.session, rest, at).map(|id| format!("breakpoint {id}: writes to {rest}\n"))
            }
            "delete" => {
                let id: u32 = rest.parse().map_err(|_| format!("`{rest}` is not the number of a breakpoint"))?;
                let mut found = false;
                self.session.set_breaks(|breaks| {
                    let before = breaks.lines.len() + breaks.writes.len() + breaks.phases.len();
                    breaks.lines.retain(|of| of.id != id);
                    breaks.writes.retain(|of| of.id != id);
                    breaks.phases.retain(|of| of.id != id);
                    found = before != breaks.lines.len() + breaks.writes.len() + breaks.phases.len();
                });
                if found { Ok(String::new()) } else { Err(format!("there is no breakpoint {id}")) }
            }
            "print" | "p" => self.print(rest),
            "x" => {
                let at = self.focus()?;
                let range = words::range(&self.session, rest, at)?;
                words::bytes(&self.session, &range, at).map(|bytes| words::dump(&bytes, range.address))
            }
            "info" | "i" => self.info(rest),
            "warp" => self.select(rest),
            "list" | "l" => self.list(rest),
            "where" | "w" => {
                let stop = self.session.stop().cloned().ok_or("the launch has ended")?;
                let mut text = Vec::new();
                self.show(&stop, &mut text).map_err(|e| e.to_string())?;
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            _ => Err(format!("there is no command `{name}`; `help` lists them")),
        }
    }

    fn set_break(&mut self, rest: &str) -> Result<String, String> {
        if let Some(offset) = rest.strip_prefix("mbarrier") {
            let at = self.focus()?;
            let offset = integer(offset.trim()).and_then(|n| u32::try_from(n).ok());
            let offset = offset.ok_or("write the offset of the mbarrier in shared memory, as in `break mbarrier 0`")?;
            let WarpId { slot, rank, .. } = at.warp;
            let id = self.session.new_id();
            self.session.set_breaks(|breaks| breaks.phases.push(PhaseBreak { id, slot, rank, offset }));
            return Ok(format!("breakpoint {id}: phases of the mbarrier at {offset:#x}\n"));
        }
        let (line, condition) = match rest.split_once(" if ") {
            Some((line, condition)) => (line.trim(), Some(Condition::parse(condition)?)),
            None => (rest, None),
        };
        let line = line_number(line)?;
        let program = self.session.program().ok_or("the launch has not begun")?;
        if program.places(line).is_empty() {
            return Err(self.no_statement(line));
        }
        let text = program.text(line).to_owned();
        let id = self.session.new_id();
        self.session.set_breaks(|breaks| breaks.lines.push(LineBreak { id, line, condition }));
        Ok(format!("breakpoint {id}: line {line}  {text}\n"))
    }

    fn print(&self, rest: &str) -> Result<String, String> {
        let at = self.focus()?;
        let (text, shown_as) = match rest.split_once(" as ") {
            Some((text, name)) => (text.trim(), Some(ty(name.trim())?)),
            None => (rest, None),
        };
        let expression = Expression::parse(text)?;
        let value = self.session.ask(move |machine| expression.value(machine, at.warp));
        let mut value = value.ok_or("the launch does not stand still")??;
        value.ty = shown_as.unwrap_or(value.ty);
        if value.is_uniform() {
            return Ok(format!("{text} = {}\n", value.show()));
        }
        let all: Vec<String> = value
            .lanes
            .iter()
            .map(|bits| bits.map_or("-".into(), |bits| crate::expression::show(value.ty, bits)))
            .collect();
        let width = all.iter().map(String::len).max().unwrap_or(0);
        let rows = all.chunks(8).enumerate().map(|(row, chunk)| {
            let cells: Vec<String> = chunk.iter().map(|cell| format!("{cell:>width$}")).collect();
            format!("  lanes {:2} to {:2}: {}\n", row * 8, row * 8 + chunk.len() - 1, cells.join(" "))
        });
        Ok(format!("{text} =\n{}", rows.collect::<String>()))
    }

    fn info(&self, rest: &str) -> Result<String, String> {
        match rest {
            "breaks" | "b" | "breakpoints" => {
                let breaks = self.session.breaks();
                let lines = breaks.lines.iter().map(|of| {
                    let condition = of.condition.as_ref().map_or(String::new(), |condition| format!(" if {condition}"));
                    format!("{}: line {}{condition}\n", of.id, of.line)
                });
                let writes = breaks.writes.iter().map(|of| format!("{}: writes to {}\n", of.id, of.text));
                let phases =
                    breaks.phases.iter().map(|of| format!("{}: phases of the mbarrier at {:#x}\n", of.id, of.offset));
                return Ok(lines.chain(writes).chain(phases).collect());
            }
            "warps" | "registers" | "r" | "mbarriers" => {}
            _ => return Err("write `info warps`, `info registers`, `info mbarriers` or `info breaks`".into()),
        }
        let at = self.focus()?;
        let text = match rest {
            "warps" => self.session.ask(move |machine| {
                let mut text = String::new();
                let mut cta = None;
                for row in machine.warps() {
                    if cta.replace((row.id.slot, row.id.rank)) != Some((row.id.slot, row.id.rank)) {
                        let [x, y, z] = row.cta;
                        text += &format!("CTA ({x},{y},{z}), rank {} of its cluster\n", row.id.rank);
                    }
                    let mark = if row.id == at.warp && row.state == LaneState::Runs { '*' } else { ' ' };
                    let place = if row.line == 0 { "     -".into() } else { format!("{:6}  {}", row.line, row.text) };
                    let state = words::state(&row.state);
                    text += &format!("{mark} warp {:2}{}{place}  -- {state}\n", row.id.warp, words::lanes(row.lanes));
                }
                text
            }),
            "mbarriers" => self.session.ask(|machine| {
                let all = machine
                    .mbarriers()
                    .into_iter()
                    .map(|of| format!("CTA rank {} of slot {}, {:#x}: {}\n", of.rank, of.slot, of.offset, of.words()));
                all.collect()
            }),
            _ => self.session.ask(move |machine| {
                let all = machine.registers(at.warp).into_iter().chain(machine.specials(at.warp));
                all.map(|row| format!("{:<10} {}\n", row.name, row.value.show())).collect()
            }),
        };
        text.ok_or_else(|| "the launch does not stand still".into())
    }

    fn select(&mut self, rest: &str) -> Result<String, String> {
        let at = self.focus()?;
        let words: Vec<Option<u32>> = rest.split_whitespace().map(|word| word.parse().ok()).collect();
        let id = match words[..] {
            [Some(warp)] => WarpId { warp, ..at.warp },
            [Some(warp), Some(rank)] => WarpId { warp, rank, ..at.warp },
            _ => return Err("write the number of a warp, and of a CTA in the cluster if it is another one".into()),
        };
        let rows = self.session.ask(|machine| machine.warps()).unwrap_or_default();
        let row = rows.iter().find(|row| row.id == id).ok_or("there is no such warp, or it has ended")?;
        self.focus = Some(Moment { warp: id, lanes: row.lanes, ..at });
        let state = words::state(&row.state);
        Ok(format!(
            "{}{}  -- {state}\n{:5}  {}\n",
            words::warp(id, Some(row.cta)),
            words::lanes(row.lanes),
            row.line,
            row.text
        ))
    }

    fn list(&self, rest: &str) -> Result<String, String> {
        let current = self.session.stop().map_or(1, |stop| stop.line);
        let middle = if rest.is_empty() { current } else { line_number(rest)? };
        let first = middle.saturating_sub(5).max(1);
        let lines = self.session.source().text.lines().enumerate().skip(first as usize - 1).take(11);
        Ok(lines
            .map(|(n, text)| {
                let mark = if n as u32 + 1 == current { '>' } else { ' ' };
                format!("{mark}{:5}  {text}\n", n + 1)
            })
            .collect())
    }
}

fn line_number(text: &str) -> Result<u32, String> {
    text.trim().parse().ok().filter(|line| *line > 0).ok_or_else(|| format!("`{text}` is not the number of a line"))
}
