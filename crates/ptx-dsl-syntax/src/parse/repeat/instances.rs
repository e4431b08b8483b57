//! Kernels with listed const parameters: `.entry gemm<const BM: u32 in [64, 128], const STAGES: u32 in 2..=4>(...) { ... }` becomes a
//! kernel for each combination, `gemm_64_2` and so on. The parameters are numbers in it.

use super::contexts::What;
use super::{Expander, errors};
use crate::parse::constant;
use crate::token::Tok;
use ptx_dsl_isa::constant::{Kind, RustType};

/// The instances of a kernel with listed const parameters.
#[derive(Debug, Clone)]
pub struct Instances {
    /// The name of all, as written.
    pub name: String,
    /// Its token.
    pub at: u32,
    /// Names and types.
    pub parameters: Vec<(String, RustType)>,
    /// The values of the parameters, and the name of the `.entry`.
    pub kernels: Vec<(Vec<i64>, String)>,
}

/// Where the parts of such a kernel are.
pub(super) struct Listed {
    /// The name.
    name: usize,
    /// The `>` after the parameters.
    close: usize,
}

impl Expander<'_> {
    /// Is there a kernel with listed const parameters here, from its linkage on?
    pub(super) fn listed(&self, at: usize, to: usize) -> Option<Listed> {
        let mut entry = at;
        while matches!(self.word(entry + 1)?, "visible" | "weak" | "extern") && self.is(entry + 2, '.') {
            entry += 2;
        }
        let name = entry + 2;
        if self.word(entry + 1) != Some("entry") || !self.is(name + 1, '<') {
            return None;
        }
        let close = self.at_depth_0(name + 2, to).find(|close| self.is(*close, '>'))?;
        let listed = (name + 2..close).any(|at| self.word(at) == Some("in"));
        listed.then_some(Listed { name, close })
    }

    /// The tokens outside of brackets.
    fn at_depth_0(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let mut depth = 0u32;
        (from..to).filter(move |at| {
            match self.tokens[*at].kind {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
    }

    /// Writes out the instances of a kernel; returns where it ends.
    pub(super) fn instances(&mut self, at: usize, Listed { name, close }: Listed, to: usize) -> usize {
        let Some(open) = self.body_behind(close + 1, to) else {
            self.fail(errors::no_kernel_body(self.span(name, close)));
            return close + 1;
        };
        let Some(end) = self.close(open).filter(|end| *end < to) else {
            self.fail(errors::unclosed(self.span(open, open)));
            return to;
        };
        let Some(parameters) = self.listed_parameters(name + 2, close) else { return end + 1 };
        let base = self.word(name).unwrap_or_default().to_owned();
        let names = parameters.iter().map(|(name, ty, _)| (name.clone(), *ty)).collect();
        let mut instances = Instances { name: base, at: self.tokens[name].id, parameters: names, kernels: Vec::new() };
        let (scope, before, context) = (self.scope.open(), self.out.tokens.len(), self.context);
        let mut chosen = vec![0; parameters.len()];
        loop {
            if self.is_too_long(name, end - at) {
                self.out.tokens.truncate(before);
                break;
            }
            let values: Vec<i64> = chosen.iter().zip(&parameters).map(|(n, (_, _, all))| all[*n]).collect();
            let outside = self.variables.len();
            for ((name, ..), value) in parameters.iter().zip(&values) {
                self.variables.push((name.clone(), *value));
                self.scope.set(name, *value);
            }
            self.context = Some(self.out.contexts.open(context, What::Iteration(self.shown_variables())));
            let entry = self.instance((at, name), &values);
            instances.kernels.push((values, entry));
            self.range(close + 1, end + 1);
            self.variables.truncate(outside);
            self.scope.close(scope);
            self.context = context;
            // the next combination; the last parameter changes fastest
            let next = chosen.iter_mut().zip(&parameters).rev().find_map(|(n, (_, _, all))| {
                *n = (*n + 1) % all.len();
                (*n > 0).then_some(())
            });
            if next.is_none() {
                break;
            }
        }
        self.out.instances.push(instances);
        end + 1
    }

    /// The tokens up to the name, which gets the values; returns it.
    fn instance(&mut self, (at, name): (usize, usize), values: &[i64]) -> String {
        (at..=name).for_each(|at| self.push(at));
        let Some(Tok::Word(entry)) = self.out.tokens.last_mut().map(|token| &mut token.kind) else {
            return String::new();
        };
        for value in values {
            entry.push('_');
            entry.push_str(&super::part_of_name(*value));
        }
        entry.clone()
    }

    /// Names, types and values of the parameters.
    fn listed_parameters(&mut self, from: usize, to: usize) -> Option<Vec<(String, RustType, Vec<i64>)>> {
        let mut ends: Vec<usize> = self.at_depth_0(from, to).filter(|at| self.is(*at, ',')).collect();
        ends.push(to);
        let mut out: Vec<(String, RustType, Vec<i64>)> = Vec::new();
        let mut from = from;
        for end in ends {
            let at = std::mem::replace(&mut from, end + 1);
            if at == end && !out.is_empty() {
                // a comma after the last one
                continue;
            }
            let span = self.span(at, end.saturating_sub(1).max(at));
            let name = (self.word(at) == Some("const") && self.is(at + 2, ':')).then(|| self.word(at + 1)).flatten();
            let ty = self.word(at + 3).and_then(RustType::from_name);
            let (Some(name), Some(ty), Some("in")) = (name, ty, self.word(at + 4)) else {
                self.fail(errors::no_list(span));
                return None;
            };
            let name = name.to_owned();
            let problem = if ty.kind() != Kind::Int {
                Some(constant::float_parameter(self.span(at + 1, at + 1), ty.name()))
            } else if out.iter().any(|(other, ..)| *other == name) {
                Some(constant::shadows(self.span(at + 1, at + 1), &name))
            } else {
                None
            };
            if let Some(problem) = problem {
                self.fail(problem);
                return None;
            }
            let values = self.values(at + 5, end, "a const parameter")?;
            let list = self.span(at + 5, end.saturating_sub(1).max(at + 5));
            if let Some(value) = values.iter().find(|value| !constant::fits(i128::from(**value), ty)) {
                self.fail(errors::list_range(list, *value, ty.name()));
                return None;
            }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                _ if values.is_empty() => self.fail(errors::empty_list(list)),
                Some(twice) => self.fail(errors::listed_twice(list, twice[0])),
                None => {
                    out.push((name, ty, values));
                    continue;
                }
            }
            return None;
        }
        Some(out)
    }
}
