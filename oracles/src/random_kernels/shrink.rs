//! Shrinks a program that fails (delta debugging): leaves out many statements at once, then fewer, then single ones. Every register is
//! still written before it is read.

use super::BATCH;
use super::program::{Program, Stmt};
use std::ops::Range;

/// `wrong` tells which of some programs fail.
pub fn least(
    program: &Program,
    mut wrong: impl FnMut(&[Program]) -> Result<Vec<bool>, String>,
) -> Result<Program, String> {
    let mut best = program.clone();
    let mut length = count(&best) / 2;
    while length > 0 {
        let before = count(&best);
        let mut from = 0;
        while from < count(&best) {
            let parts: Vec<Range<usize>> =
                (from..count(&best)).step_by(length).take(BATCH).map(|start| start..start + length).collect();
            let some: Vec<Program> = parts.iter().map(|part| without(&best, std::slice::from_ref(part))).collect();
            // The remaining statements do not matter.
            let less = some.iter().map(|p| count(p) < count(&best));
            let verdicts: Vec<bool> = wrong(&some)?.into_iter().zip(less).map(|(wrong, less)| wrong && less).collect();
            let Some(first) = verdicts.iter().position(|wrong| *wrong) else {
                from += parts.len() * length;
                continue;
            };
            // Most removable statements can be removed together.
            let gone: Vec<Range<usize>> = parts.into_iter().zip(&verdicts).filter(|p| *p.1).map(|p| p.0).collect();
            let together = without(&best, &gone);
            if gone.len() > 1 && wrong(std::slice::from_ref(&together))?[0] {
                best = together;
                from += (some.len() - gone.len()) * length;
            } else {
                best = some[first].clone();
                from += first * length;
            }
        }
        // Statements inside of removed ones were counted as well: single ones are tried until nothing more can go.
        if length > 1 || count(&best) == before {
            length /= 2;
        }
    }
    Ok(best)
}

/// The number of statements, nested ones included.
fn count(program: &Program) -> usize {
    bodies(program).map(size).sum()
}

fn bodies(program: &Program) -> impl Iterator<Item = &[Stmt]> {
    program.functions.iter().map(|f| f.body.as_slice()).chain([program.body.as_slice()])
}

fn size(body: &[Stmt]) -> usize {
    body.iter().map(|s| 1 + inside(s).iter().map(|b| size(b)).sum::<usize>()).sum()
}

fn inside(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop { body, .. } => vec![body],
        Stmt::Copies { during, .. } => vec![during],
        Stmt::Switch { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
        Stmt::Tangle { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
        _ => Vec::new(),
    }
}

/// The program without the statements of these numbers, in text order, and without what is nested in them.
fn without(program: &Program, gone: &[Range<usize>]) -> Program {
    let mut left = Left { gone, next: 0 };
    let mut program = program.clone();
    program.functions.iter_mut().for_each(|f| left.cut(&mut f.body));
    left.cut(&mut program.body);
    program
}

struct Left<'a> {
    gone: &'a [Range<usize>],
    /// The number of the next statement.
    next: usize,
}

impl Left<'_> {
    fn cut(&mut self, body: &mut Vec<Stmt>) {
        let mut kept: Vec<Stmt> = Vec::new();
        for mut stmt in std::mem::take(body) {
            let number = self.next;
            if self.gone.iter().any(|part| part.contains(&number)) && !Self::guards(&stmt) {
                self.next += size(&[stmt]);
                continue;
            }
            self.next += 1;
            match &mut stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.cut(then);
                    self.cut(otherwise);
                }
                Stmt::Loop { body, .. } => self.cut(body),
                Stmt::Copies { during, .. } => self.cut(during),
                Stmt::Switch { arms, .. } => arms.iter_mut().for_each(|arm| self.cut(arm)),
                Stmt::Tangle { arms, .. } => arms.iter_mut().for_each(|arm| self.cut(arm)),
                _ => {}
            }
            kept.push(stmt);
        }
        *body = kept;
    }

    /// Keeps what may decide which threads reach a barrier: without it not all would.
    fn guards(stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Row { row, .. } if super::rows::ROWS[*row].text.starts_with("setp."))
    }
}

#[cfg(test)]
mod tests {
    use super::super::make::program;
    use super::*;

    fn any(body: &[Stmt], is: fn(&Stmt) -> bool) -> bool {
        body.iter().any(|s| is(s) || inside(s).iter().any(|b| any(b, is)))
    }

    /// The rest is the one statement that makes the program fail, its enclosing ones, and comparisons.
    #[test]
    fn what_is_not_needed_goes() {
        let mut found = 0;
        for seed in 0..20 {
            for is in [
                |s: &Stmt| matches!(s, Stmt::Vector { .. }),
                |s: &Stmt| matches!(s, Stmt::Atom { .. }),
                |s: &Stmt| matches!(s, Stmt::Call { .. }),
            ] {
                let wrong = |p: &Program| any(&p.body, is);
                let whole = program(seed, 60);
                if !wrong(&whole) {
                    continue;
                }
                found += 1;
                let left = least(&whole, |some| Ok(some.iter().map(wrong).collect())).expect("nothing fails");
                let count = |p: &Program, f: &dyn Fn(&Stmt) -> bool| -> usize {
                    fn of(body: &[Stmt], f: &dyn Fn(&Stmt) -> bool) -> usize {
                        body.iter().map(|s| usize::from(f(s)) + inside(s).iter().map(|b| of(b, f)).sum::<usize>()).sum()
                    }
                    bodies(p).map(|b| of(b, f)).sum()
                };
                assert_eq!(count(&left, &is), 1, "seed {seed}");
                let other = |s: &Stmt| !is(s) && !Left::guards(s) && !inside(s).iter().any(|b| any(b, is));
                assert_eq!(count(&left, &other), 0, "seed {seed}: {left:#?}");
            }
        }
        assert!(found > 20, "{found}");
    }
}
