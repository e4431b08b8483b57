//! Control flow of a program: loops, branches, and jumps between their arms.

use super::super::program::{COUNTERS, Guard, STEPS, Source, Stmt};
use super::{Printer, guarded};

impl Printer<'_> {
    pub(super) fn turns(&mut self, depth: u8, trips: Source, bottom: bool, body: &[Stmt]) {
        let (head, next, end) = (self.label(), self.label(), self.label());
        let counter = COUNTERS + depth;
        self.line(&format!("mov.u32 %r{counter}, 0;"));
        match trips {
            Source::Register(r) => self.line(&format!("and.b32 %lim{depth}, %r{r}, 7;")),
            Source::Immediate(n) => self.line(&format!("mov.u32 %lim{depth}, {n};")),
        }
        self.line(&format!("L{head}:"));
        if !bottom {
            self.line(&format!("setp.ge.u32 %q, %r{counter}, %lim{depth};\n@%q bra L{end};"));
        }
        self.loops.push((next, end));
        self.block(body);
        self.loops.pop();
        self.line(&format!("L{next}:\nadd.u32 %r{counter}, %r{counter}, 1;"));
        if bottom {
            self.line(&format!("setp.lt.u32 %q, %r{counter}, %lim{depth};\n@%q bra L{head};"));
        } else {
            self.line(&format!("bra L{head};"));
        }
        self.line(&format!("L{end}:"));
    }

    pub(super) fn switch(&mut self, index: u8, arms: &[Vec<Stmt>]) {
        let labels: Vec<usize> = arms.iter().map(|_| self.label()).collect();
        let (list, end) = (self.label(), self.label());
        let names = labels.iter().map(|l| format!("L{l}")).collect::<Vec<_>>().join(", ");
        self.line(&format!("min.u32 %t0, %r{index}, {};", arms.len() - 1));
        self.line(&format!("L{list}: .branchtargets {names};\nbrx.idx %t0, L{list};"));
        for (arm, label) in arms.iter().zip(labels) {
            self.line(&format!("L{label}:"));
            self.block(arm);
            self.line(&format!("bra L{end};"));
        }
        self.line(&format!("L{end}:"));
    }

    pub(super) fn tangle(&mut self, depth: u8, select: u8, arms: &[Vec<Stmt>; 3]) {
        let counter = COUNTERS + depth;
        let labels = [self.label(), self.label(), self.label()];
        let end = self.label();
        self.line(&format!("mov.u32 %r{counter}, 0;\nand.b32 %t0, %r{select}, 1;\nsetp.ne.u32 %q, %t0, 0;"));
        self.line(&format!("@%q bra L{};", labels[1]));
        for (i, arm) in arms.iter().enumerate() {
            self.line(&format!("L{}:", labels[i]));
            self.block(arm);
            self.line(&format!("add.u32 %r{counter}, %r{counter}, 1;\nsetp.ge.u32 %q, %r{counter}, {STEPS};"));
            self.line(&format!("@%q bra L{end};\nshr.u32 %t0, %r{select}, %r{counter};\nand.b32 %t0, %t0, 1;"));
            self.line(&format!("setp.ne.u32 %q, %t0, 0;\n@%q bra L{};", labels[(i + 1) % 3]));
            self.line(&format!("bra L{};", labels[(i + 2) % 3]));
        }
        self.line(&format!("L{end}:"));
    }

    pub(super) fn branch(&mut self, stmt: &Stmt) {
        let Stmt::If { guard, then, otherwise, swapped, uniform } = stmt else { return };
        let bra = if *uniform { "bra.uni" } else { "bra" };
        let end = self.label();
        let (first, second, guard) = if *swapped {
            (otherwise, then, *guard)
        } else {
            (then, otherwise, Guard { negated: !guard.negated, ..*guard })
        };
        let to = if second.is_empty() { end } else { self.label() };
        self.line(&format!("{}{bra} L{to};", guarded(Some(guard))));
        self.block(first);
        if !second.is_empty() {
            self.line(&format!("bra L{end};\nL{to}:"));
            self.block(second);
        }
        self.line(&format!("L{end}:"));
    }
}
