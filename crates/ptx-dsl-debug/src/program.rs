//! The code of a kernel with its text: which line a place in the code has, and which places a line has.

use ptx_dsl_runtime::Ty;
use ptx_dsl_runtime::debug::CodePlace;
use ptx_dsl_runtime::debug::image::{End, Image, Instr, Lines, Register, Source as Operand};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The text of a kernel.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The name of the file.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// The types of registers, by name. Registers without a type are shown as bits.
    pub types: BTreeMap<String, Ty>,
}

/// The code of a kernel with its text.
#[derive(Debug)]
pub struct Program {
    source: Source,
    image: Arc<Image>,
    /// The line of each place, from 1; 0 if it is no statement. By region and index; the last index is the end of the region.
    lines: Vec<Vec<u32>>,
    /// Whether a step or a breakpoint stops at a place.
    stops: Vec<Vec<bool>>,
    /// The function of each region: the number of one of its regions.
    functions: Vec<u16>,
    variables: Vec<Variable>,
    /// The index in `variables` of each register that has a name.
    variable_of: BTreeMap<Register, usize>,
}

/// A register of the text. The image has a register for each of its values that do not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The function: the number of one of its regions.
    function: u16,
    /// The registers of the image.
    pub registers: Vec<Register>,
}

/// The function of each region, as the number of one of its regions. Regions that go on in each other are in one function.
fn functions(image: &Image) -> Vec<u16> {
    let mut of: Vec<u16> = (0..image.regions.len() as u16).collect();
    fn root(of: &mut [u16], mut at: u16) -> u16 {
        while of[usize::from(at)] != at {
            of[usize::from(at)] = of[usize::from(of[usize::from(at)])];
            at = of[usize::from(at)];
        }
        at
    }
    for (n, region) in image.regions.iter().enumerate() {
        let to: Vec<u16> = match &region.end {
            End::Goto { to } => vec![*to],
            End::Branch { taken, fall, .. } => vec![*taken, *fall],
            End::Switch { targets, .. } => targets.clone(),
            End::Block { next, .. } => vec![*next],
            End::Call { callees, .. } => callees.iter().map(|callee| callee.back).collect(),
            End::Return { .. } | End::Exit {} => Vec::new(),
        };
        for to in to.into_iter().filter(|to| usize::from(*to) < image.regions.len()) {
            let (a, b) = (root(&mut of, n as u16), root(&mut of, to));
            of[usize::from(a.max(b))] = a.min(b);
        }
    }
    (0..of.len() as u16).map(|n| root(&mut of, n)).collect()
}

/// The registers of the text, in the order of the image.
fn variables(image: &Image, functions: &[u16]) -> Vec<Variable> {
    let mut used: BTreeMap<Register, u16> = BTreeMap::new();
    for (region, function) in image.regions.iter().zip(functions) {
        for instr in region.instructions() {
            let sources = instr.sources.iter().filter_map(|source| match source {
                Operand::Register { register } | Operand::Not { register } => Some(*register),
                Operand::Address { base, .. } => Some(*base),
                _ => None,
            });
            let all = sources.chain(instr.results.iter().copied().flatten()).chain(instr.guard.map(|g| g.register));
            for register in all {
                used.entry(register).or_insert(*function);
            }
        }
        if let End::Branch { guard, .. } = &region.end {
            used.entry(guard.register).or_insert(*function);
        }
    }
    let mut variables: Vec<Variable> = Vec::new();
    for (register, name) in (0..).zip(&image.names).filter(|(_, name)| !name.is_empty()) {
        let function = used.get(&register).copied().unwrap_or(0);
        match variables.iter_mut().find(|of| of.function == function && of.name == *name) {
            Some(of) => of.registers.push(register),
            None => variables.push(Variable { name: name.clone(), function, registers: vec![register] }),
        }
    }
    variables
}

impl Program {
    pub(crate) fn new(source: Source, image: Arc<Image>) -> Self {
        let number = |lines: &Lines| if lines.source != 0 { lines.source } else { lines.ptx };
        let lines = image.regions.iter().map(|region| {
            let body = region.body.iter().map(|instr| number(&instr.lines));
            let end = match &region.end {
                End::Block { instr, .. } => number(&instr.lines),
                _ => region.last.as_ref().map_or(0, number),
            };
            body.chain([end]).collect()
        });
        let lines: Vec<Vec<u32>> = lines.collect();
        let mut stops: Vec<Vec<bool>> =
            lines.iter().map(|region| region.iter().map(|line| *line != 0).collect()).collect();
        // an instruction with a guard that may wait is a branch around a region: it stops at the branch alone
        for (region, of) in image.regions.iter().zip(&lines) {
            let End::Branch { taken, fall, .. } = &region.end else { continue };
            for to in [usize::from(*taken), usize::from(*fall)] {
                let first =
                    image.regions.get(to).filter(|to| to.body.is_empty() && matches!(to.end, End::Block { .. }));
                if first.is_some() && lines[to].last() == of.last() {
                    stops[to].fill(false);
                }
            }
        }
        let functions = functions(&image);
        let variables = variables(&image, &functions);
        let registers = |(n, of): (usize, &Variable)| of.registers.iter().map(|r| (*r, n)).collect::<Vec<_>>();
        let variable_of = variables.iter().enumerate().flat_map(registers).collect();
        Program { source, image, lines, stops, functions, variables, variable_of }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The whole text.
    pub fn whole(&self) -> &str {
        &self.source.text
    }

    /// The line of a place, from 1; 0 if it is no statement.
    pub fn line(&self, at: CodePlace) -> u32 {
        let region = self.lines.get(usize::from(at.region));
        region.and_then(|region| region.get(at.index as usize)).copied().unwrap_or(0)
    }

    /// Does a step stop at this place?
    pub(crate) fn stops(&self, at: CodePlace) -> bool {
        let region = self.stops.get(usize::from(at.region));
        region.and_then(|region| region.get(at.index as usize)).copied().unwrap_or(false)
    }

    /// The text of a line, without white space around it.
    pub fn text(&self, line: u32) -> &str {
        let line = self.source.text.lines().nth((line as usize).wrapping_sub(1));
        line.map_or("", str::trim)
    }

    /// The first line from this one on that has a statement.
    pub fn nearest(&self, line: u32) -> Option<u32> {
        self.lines.iter().flatten().copied().filter(|of| *of != 0 && *of >= line).min()
    }

    /// The places of a line where a step stops.
    pub fn places(&self, line: u32) -> Vec<CodePlace> {
        self.all().filter(|at| self.line(*at) == line && self.stops(*at)).collect()
    }

    /// All places.
    fn all(&self) -> impl Iterator<Item = CodePlace> + '_ {
        self.lines.iter().enumerate().flat_map(|(region, lines)| {
            (0..lines.len()).map(move |index| CodePlace { region: region as u16, index: index as u32 })
        })
    }

    /// The places of the instructions that write a register of the text.
    pub fn writers(&self, variable: &Variable) -> Vec<CodePlace> {
        let is_own =
            |register: &Option<Register>| register.is_some_and(|register| variable.registers.contains(&register));
        self.all().filter(|at| self.instr(*at).is_some_and(|instr| instr.results.iter().any(is_own))).collect()
    }

    /// The registers of the text, in all functions.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variables of the function that a place is in, with their index in [`Program::variables`].
    pub fn variables_at(&self, at: CodePlace) -> impl Iterator<Item = (usize, &Variable)> + '_ {
        let function = self.functions.get(usize::from(at.region)).copied();
        self.variables.iter().enumerate().filter(move |(_, of)| Some(of.function) == function)
    }

    /// The registers of the text that an instruction writes, by their index, with that of the image. Only those that have several
    /// registers in the image.
    pub(crate) fn results(&self, at: CodePlace) -> impl Iterator<Item = (usize, Register)> + '_ {
        let results = self.instr(at).into_iter().flat_map(|instr| instr.results.iter().copied().flatten());
        results.filter_map(|register| {
            let variable = *self.variable_of.get(&register)?;
            (self.variables[variable].registers.len() > 1).then_some((variable, register))
        })
    }

    /// The instruction at a place.
    pub(crate) fn instr(&self, at: CodePlace) -> Option<&Instr> {
        let region = self.image.regions.get(usize::from(at.region))?;
        match region.body.get(at.index as usize) {
            Some(instr) => Some(instr),
            None => match &region.end {
                End::Block { instr, .. } if at.index as usize == region.body.len() => Some(instr),
                _ => None,
            },
        }
    }

    /// The type of a register: its declared type, or bits.
    pub fn ty(&self, register: Register) -> Ty {
        let at = register as usize;
        let declared = self.image.names.get(at).and_then(|name| self.source.types.get(name)).copied();
        declared.unwrap_or(match self.image.registers.get(at) {
            Some(1) => Ty::Pred,
            Some(64) => Ty::B64,
            Some(8) => Ty::B8,
            Some(16) => Ty::B16,
            _ => Ty::B32,
        })
    }
}
