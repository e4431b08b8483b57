//! A session without a front end, and the prompt.

use super::{PARITY, SUM, line, session, stopped, sum};
use ptx_dsl_debug::breaks::LineBreak;
use ptx_dsl_debug::expression::{Condition, Expression};
use ptx_dsl_debug::prompt::Prompt;
use ptx_dsl_debug::{Ended, Outcome, Reason, Session, Stop};

fn break_at(session: &mut Session, line: u32, condition: Option<&str>) -> u32 {
    let id = session.new_id();
    let condition = condition.map(|text| Condition::parse(text).unwrap());
    session.set_breaks(|breaks| breaks.lines.push(LineBreak { id, line, condition }));
    id
}

/// An expression in the warp of a stop.
fn value(session: &Session, text: &str, stop: &Stop) -> String {
    let (expression, warp) = (Expression::parse(text).unwrap(), stop.at.warp);
    session.ask(move |machine| expression.value(machine, warp)).unwrap().unwrap().show()
}

/// All registers of the warp of a stop.
fn registers(session: &Session, stop: &Stop) -> Vec<(String, String)> {
    let warp = stop.at.warp;
    let rows = session.ask(move |machine| machine.registers(warp)).unwrap();
    rows.into_iter().map(|row| (row.name, row.value.show())).collect()
}

#[test]
fn steps_backwards_show_the_registers_of_the_steps_forwards() {
    let mut session = sum();
    session.start();
    let mut stop = stopped(&mut session);
    assert_eq!((stop.reason.clone(), stop.at.count, stop.line), (Reason::Entry, 1, line(SUM, "ld.param.u64 %x")));
    let warp = stop.at.warp;
    let mut seen = Vec::new();
    for _ in 0..40 {
        seen.push((stop.at, stop.line, registers(&session, &stop)));
        session.step(warp);
        stop = stopped(&mut session);
    }
    // something has changed on the way, and each line is the next one of the text, or a jump
    assert!(seen.windows(2).filter(|pair| pair[0].2 != pair[1].2).count() > 20);
    assert_eq!(seen[1].1, seen[0].1 + 1);
    for expected in seen.iter().rev() {
        session.step_back(warp);
        stop = stopped(&mut session);
        assert_eq!((stop.at, stop.line), (expected.0, expected.1));
        assert_eq!(registers(&session, &stop), expected.2);
    }
    session.step_back(warp);
    assert_eq!(stopped(&mut session).reason, Reason::Start);
}

#[test]
fn breakpoints_with_conditions_forwards_and_backwards() {
    let mut session = sum();
    session.start();
    stopped(&mut session);
    let add = line(SUM, "add.f32 %b, %b, %a");
    let id = break_at(&mut session, add, Some("%n == 10 && lane == 0"));
    session.go();
    let stop = stopped(&mut session);
    assert_eq!((stop.reason.clone(), stop.line, stop.at.lanes), (Reason::Breakpoint(id), add, 1));
    // the sum of 0 to 9 has been made; element 10 is loaded
    let first = |text: &str| value(&session, text, &stop);
    assert_eq!(
        [first("%b[0]"), first("%a[0]"), first("%n[0]"), first("%t[0]"), first("[shared + 40]:f32")],
        ["45.0", "10.0", "10", "0", "10.0"]
    );
    // lane 1 has left the loop: its registers are those of the text before
    assert_eq!([first("%a[1]"), first("%t[31]"), first("%tid.x")], ["1.0", "31", "0, 1, ... 31"]);
    session.go();
    assert!(matches!(session.wait(), Some(Outcome::Ended(Ended::Well(_)))));
    session.go_back();
    assert_eq!(stopped(&mut session).at, stop.at);
    // the write of the register before is one round of the loop earlier
    session.back_to_write(stop.at.warp, "%b").unwrap();
    let earlier = stopped(&mut session);
    assert_eq!((earlier.line, value(&session, "%n[0]", &earlier)), (add, "9".to_owned()));
    assert_eq!(value(&session, "%b[0]", &earlier), "36.0");
    session.go_back();
    assert_eq!(stopped(&mut session).reason, Reason::Start);
}

#[test]
fn a_breakpoint_in_a_line_of_both_warps_stops_both() {
    let mut session = sum();
    session.start();
    stopped(&mut session);
    break_at(&mut session, line(SUM, "st.shared.f32"), None);
    let warps: Vec<u32> = (0..2)
        .map(|_| {
            session.go();
            stopped(&mut session).at.warp.warp
        })
        .collect();
    assert_eq!(warps, [0, 1]);
    let rows = session.ask(|machine| machine.warps()).unwrap();
    let lines: Vec<u32> = rows.iter().map(|row| row.line).collect();
    assert_eq!((rows.len(), lines[1]), (2, line(SUM, "st.shared.f32")));
    session.go();
    assert!(matches!(session.wait(), Some(Outcome::Ended(Ended::Well(_)))));
}

/// The output of the prompt for these commands.
fn prompt(session: Session, commands: &str) -> (String, bool) {
    let mut output = Vec::new();
    let well = Prompt::new(session).run(&mut commands.as_bytes(), &mut output, true).unwrap();
    (String::from_utf8(output).unwrap(), well)
}

#[test]
fn a_data_breakpoint_stops_after_the_write_and_backwards_before_it() {
    // element 40 is written by lane 8 of warp 1
    let commands = "watch [shared + 160]:f32\ncontinue\nprint [shared + 160]:f32\ncontinue\nrcontinue\n\
                    print [shared + 160]:f32\nprint %tid.x[8]\nwhere\nquit\n";
    let (text, well) = prompt(sum(), commands);
    assert!(well, "{text}");
    let values: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("[shared + 160]:f32 = ")).collect();
    assert_eq!(values, ["40.0", "0.0"], "{text}");
    assert_eq!(text.matches("warp 1 of CTA rank 0").count(), 3, "{text}");
    let before = format!("{:5}  st.shared.f32 [%i], %a;", line(SUM, "st.shared.f32"));
    assert!(text.ends_with(&format!("{before}\n(ptx) quit\n")), "{text}");
}

#[test]
fn the_first_fault_stops_the_launch() {
    // `out` has no room: the only store to it is outside
    let x: Vec<u8> = (0..64).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut session = session("sum.ptx", SUM, vec![x, vec![]]);
    session.start();
    stopped(&mut session);
    session.go();
    let stop = stopped(&mut session);
    let Reason::Fault(text) = &stop.reason else { panic!("{stop:?}") };
    assert!(text.contains("st.global.f32"), "{text}");
    assert_eq!(stop.line, line(SUM, "st.global.f32 [%o], %b"));
    // 0 + 1 + ... + 63
    assert_eq!(value(&session, "%b[0]", &stop), "2016.0");
    session.step_back(stop.at.warp);
    assert_eq!(stopped(&mut session).line, stop.line - 1);
    session.go();
    assert!(matches!(stopped(&mut session).reason, Reason::Fault(_)));
    session.go();
    assert!(matches!(session.wait(), Some(Outcome::Ended(Ended::Failed(_)))));
}

#[test]
fn a_deadlock_stops_with_what_each_warp_waits_for() {
    // the reader waits for parity 1: the phase before the first one, which counts as complete, so that it reads too early
    let text = PARITY.replace("[%full], 1;", "[%full], 0;").replace("[%full], 32;", "[%full], 33;");
    let mut session = session("parity.ptx", &text, vec![vec![0; 128]]);
    session.start();
    stopped(&mut session);
    session.go();
    let stop = stopped(&mut session);
    let Reason::Fault(report) = &stop.reason else { panic!("{stop:?}") };
    assert!(report.contains("deadlock"), "{report}");
    let mbarriers = session.ask(|machine| machine.mbarriers()).unwrap();
    let state = mbarriers[0].state.unwrap();
    assert_eq!((mbarriers.len(), state.parity, state.pending, state.expected, state.tx), (1, 0, 1, 33, 0));
}

#[test]
fn a_wrong_parity_is_found_at_the_prompt() {
    let commands = format!(
        "break {}\nbreak mbarrier 0\ncontinue\ninfo mbarriers\ninfo warps\nprint [shared + 8]\ncontinue\nquit\n",
        line(PARITY, "ld.shared.u32 %v")
    );
    let (text, _) = prompt(session("parity.ptx", PARITY, vec![vec![0; 128]]), &commands);
    // the reader is at its load, and no arrival has been made
    assert!(text.contains("phase parity 0, 32 of 32 arrivals pending, tx-count 0 bytes"), "{text}");
    assert!(text.contains("a phase of the mbarrier at 0x0 of CTA rank 0 completes"), "{text}");
}

/// The blocks of the page of the book that are at the prompt, as (begin, end).
fn blocks(page: &str) -> Vec<(usize, usize)> {
    let begins = page.match_indices("```text\n").map(|(at, fence)| at + fence.len());
    let all = begins.filter_map(|from| Some((from, from + page[from..].find("```")?)));
    all.filter(|(from, to)| page[*from..*to].contains("(ptx) ")).collect()
}

#[test]
fn the_page_of_the_book_shows_what_the_prompt_writes() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/debugger.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let all = blocks(&page);
    let commands: Vec<Vec<&str>> = all
        .iter()
        .map(|(from, to)| page[*from..*to].lines().filter_map(|line| line.strip_prefix("(ptx) ")).collect())
        .collect();
    let (text, _) = prompt(session("parity.ptx", PARITY, vec![vec![0; 128]]), &(commands.concat().join("\n") + "\n"));
    let mut parts = text.split("(ptx) ");
    let mut shown = parts.next().unwrap().to_owned();
    let (mut written, mut end) = (String::new(), 0);
    for ((from, to), commands) in all.iter().zip(&commands) {
        shown.extend(parts.by_ref().take(commands.len()).map(|part| format!("(ptx) {part}")));
        written += &page[end..*from];
        written += &std::mem::take(&mut shown);
        end = *to;
    }
    written += &page[end..];
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    assert!(all.len() == 3 && written == page, "the page differs; BLESS=1 writes it:\n{text}");
}

#[test]
fn wrong_commands_say_what_is_right() {
    let commands =
        "break 1\nbreak 900\nprint %q\nprint [somewhere + 4]\nx shared 0 999999\nstep many\nfly\ndelete 7\nquit\n";
    let (text, well) = prompt(sum(), commands);
    assert!(well);
    for part in [
        "line 1 has no statement; the next one is line 13",
        "there is no statement from line 900 on",
        "there is no register `%q`",
        "there is no register `somewhere`",
        "there is no memory at this address",
        "`many` is not a number of steps",
        "there is no command `fly`",
        "there is no breakpoint 7",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
