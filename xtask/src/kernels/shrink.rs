//! The least of a program that is still wrong: statements are left out, first many at once, then fewer, then one by one.

use super::BATCH;
use super::program::{Program, Stmt};
use std::ops::Range;

/// `wrong` says of some programs which are.
pub fn least(
    program: &Program,
    mut wrong: impl FnMut(&[Program]) -> Result<Vec<bool>, String>,
) -> Result<Program, String> {
    let mut best = program.clone();
    let mut length = count(&best) / 2;
    while length > 0 {
        let mut from = 0;
        while from < count(&best) {
            let parts: Vec<Range<usize>> =
                (from..count(&best)).step_by(length).take(BATCH).map(|start| start..start + length).collect();
            let some: Vec<Program> = parts.iter().map(|part| without(&best, std::slice::from_ref(part))).collect();
            // What stays has no part in it.
            let less = some.iter().map(|p| count(p) < count(&best));
            let verdicts: Vec<bool> = wrong(&some)?.into_iter().zip(less).map(|(wrong, less)| wrong && less).collect();
            let (gone, needed): (Vec<_>, Vec<_>) = parts.into_iter().zip(some).zip(verdicts).partition(|(_, w)| *w);
            from += needed.len() * length;
            let Some(((_, first), _)) = gone.first() else { continue };
            // Mostly all that can be left out can be so together.
            let parts: Vec<Range<usize>> = gone.iter().map(|((part, _), _)| part.clone()).collect();
            let together = without(&best, &parts);
            best = if gone.len() > 1 && wrong(std::slice::from_ref(&together))?[0] { together } else { first.clone() };
        }
        length /= 2;
    }
    Ok(best)
}

/// Statements, those inside others too.
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
        Stmt::Switch { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
        Stmt::Tangle { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
        _ => Vec::new(),
    }
}

/// The program without the statements of these numbers, in the order of the text, and what is inside them.
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
                Stmt::Switch { arms, .. } => arms.iter_mut().for_each(|arm| self.cut(arm)),
                Stmt::Tangle { arms, .. } => arms.iter_mut().for_each(|arm| self.cut(arm)),
                _ => {}
            }
            kept.push(stmt);
        }
        *body = kept;
    }

    /// What may say who comes to a barrier stays: without it not all would.
    fn guards(stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Row { row, .. } if super::rows::ROWS[*row].text.starts_with("setp."))
    }
}
