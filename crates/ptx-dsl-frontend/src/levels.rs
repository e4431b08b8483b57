//! Applies the levels of findings ([`ptx_dsl_syntax::levels`]).

use crate::code::{self, Code};
use crate::diag::{Class, Diagnostic, Severity};
use crate::span::Span;
pub use ptx_dsl_syntax::levels::{Level, Selector, SetLevel};
use ptx_dsl_syntax::parse::errors::no_lint;

/// Levels that no header sets.
pub fn set(levels: &[(Level, Selector)]) -> Vec<SetLevel> {
    levels.iter().map(|&(level, of)| SetLevel { level, of, span: Span::default() }).collect()
}

/// Is it the number of a code that has a level?
pub fn is_lint(number: u16) -> bool {
    code::find(number).is_some_and(Code::has_level)
}

/// Does a level ask for findings of performance?
pub fn ask_for_performance(levels: &[SetLevel]) -> bool {
    let performance = |of: Selector| match of {
        Selector::Class(class) => class == Class::Performance,
        Selector::Code(number) => code::find(number).is_some_and(Code::is_performance),
        Selector::Warnings => false,
    };
    levels.iter().any(|l| l.level != Level::Allow && performance(l.of))
}

/// Applies its level to every finding; the last of several counts. Returns the errors in the levels themselves.
pub fn apply(levels: &[SetLevel], found: &mut Vec<Diagnostic>) -> Vec<Diagnostic> {
    if levels.is_empty() {
        return Vec::new();
    }
    for d in found.as_mut_slice() {
        match level_of(d, levels) {
            Some(Level::Warn) => d.severity = Severity::Warning,
            Some(Level::Deny) => d.severity = Severity::Error,
            Some(Level::Allow) | None => {}
        }
    }
    crate::keep(found, &|d| match level_of(d, levels) {
        Some(level) => level != Level::Allow,
        None => d.class != Class::Performance,
    });
    errors(levels)
}

/// The errors in levels themselves: codes that have none.
pub fn errors(levels: &[SetLevel]) -> Vec<Diagnostic> {
    let unknown = |l: &SetLevel| match l.of {
        Selector::Code(code) if !is_lint(code) => Some(no_lint(l.span, code)),
        _ => None,
    };
    levels.iter().filter_map(unknown).collect()
}

fn level_of(d: &Diagnostic, levels: &[SetLevel]) -> Option<Level> {
    if !d.code.has_level() {
        return None;
    }
    levels.iter().rev().find(|l| l.of.covers(d)).map(|l| l.level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(code: &'static Code) -> Diagnostic {
        Diagnostic::warning(code, Span::default(), "x")
    }

    fn set(level: Level, code: u16) -> SetLevel {
        SetLevel { level, of: Selector::Code(code), span: Span::token(7) }
    }

    #[test]
    fn allow_removes_warn_softens_deny_hardens() {
        let broken = Diagnostic::new(Class::Broken, code::CLUSTER_WAIT_WITHOUT_ARRIVAL, Span::default(), "y");
        let mut found = vec![
            warning(code::DIRECTIVE_WITHOUT_EFFECT),
            warning(code::LIMIT_TOO_HIGH),
            broken,
            warning(code::TMEM_IN_PART_OF_WARP),
        ];
        let levels = [set(Level::Allow, 516), set(Level::Deny, 517), set(Level::Warn, 612)];
        assert!(apply(&levels, &mut found).is_empty());
        let left: Vec<_> = found.iter().map(|d| (d.code.number, d.severity)).collect();
        assert_eq!(left, [(517, Severity::Error), (612, Severity::Warning), (601, Severity::Warning)]);
    }

    #[test]
    fn the_last_level_of_a_code_counts() {
        let mut found = vec![warning(code::DIRECTIVE_WITHOUT_EFFECT)];
        apply(&[set(Level::Allow, 516), set(Level::Deny, 516)], &mut found);
        assert_eq!(found[0].severity, Severity::Error);
    }

    #[test]
    fn a_class_is_set_at_once() {
        let finding = |class| Diagnostic::new(class, code::TMEM_LOAD_INCOMPLETE, Span::default(), "x");
        let severities = |of, level| {
            let mut found = Class::ALL[1..].iter().map(|class| finding(*class)).collect();
            apply(&[SetLevel { level, of, span: Span::default() }], &mut found);
            found.iter().map(|d| (d.class.name(), d.severity)).collect::<Vec<_>>()
        };
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(
            severities(Selector::Class(Class::Protocol), Level::Deny),
            [("broken", error), ("protocol", error), ("suspicious", warning)]
        );
        assert_eq!(
            severities(Selector::Warnings, Level::Deny),
            [("broken", error), ("protocol", error), ("suspicious", error)]
        );
        assert_eq!(severities(Selector::Warnings, Level::Allow), [("broken", error)]);
    }

    #[test]
    fn errors_cannot_be_allowed() {
        let mut found = vec![Diagnostic::error(code::QUALIFIER_DEPENDENCE, Span::default(), "y")];
        let wrong = apply(&[set(Level::Allow, 207)], &mut found);
        assert_eq!((found.len(), wrong.len()), (1, 1));
        assert_eq!((wrong[0].code.number, wrong[0].span), (133, Span::token(7)));
        // Nor what no rule says.
        assert_eq!(apply(&[set(Level::Allow, 999)], &mut found)[0].code.number, 133);
    }

    /// Each rule of 06xx by its wrong example: left out, a warning, an error.
    #[test]
    fn every_rule_has_a_level() {
        for e in code::rules() {
            let (lexed, _) = crate::lex::lex(&e.wrong());
            let found = |level| -> Vec<Severity> {
                let all = crate::compile_at(
                    &lexed.tokens,
                    None,
                    None,
                    &[(level, Selector::Code(e.number))],
                    Default::default(),
                )
                .diagnostics;
                all.iter().filter(|d| d.code == e).map(|d| d.severity).collect()
            };
            assert!(found(Level::Allow).is_empty(), "{e}");
            for (level, severity) in [(Level::Warn, Severity::Warning), (Level::Deny, Severity::Error)] {
                let found = found(level);
                assert!(!found.is_empty() && found.iter().all(|s| *s == severity), "{e}");
            }
        }
    }

    /// Each rule of 07xx by its wrong example: nothing without its level, a warning, an error.
    #[test]
    fn findings_of_performance_need_a_level() {
        for e in code::of_performance() {
            let text = e.wrong().replace(", warn(performance)", "");
            let found = |levels: &[(Level, Selector)]| -> Vec<(u16, Severity)> {
                let (lexed, _) = crate::lex::lex(&text);
                let all = crate::compile_at(&lexed.tokens, None, None, levels, Default::default()).diagnostics;
                all.iter().map(|d| (d.code.number, d.severity)).collect()
            };
            let of_class = Selector::Class(Class::Performance);
            assert_eq!(found(&[]), [], "{e}");
            assert_eq!(found(&[(Level::Deny, Selector::Warnings)]), [], "{e}");
            assert_eq!(found(&[(Level::Warn, Selector::Code(e.number))]), [(e.number, Severity::Warning)]);
            assert_eq!(found(&[(Level::Deny, of_class)]), [(e.number, Severity::Error)]);
            assert_eq!(found(&[(Level::Warn, of_class), (Level::Allow, Selector::Code(e.number))]), [], "{e}");
        }
    }
}
