//! Races between an access that is strong and one that is not: locks, flags, compare-and-swap loops.

use super::Race;
use ptx_dsl_isa::meaning::order::Scope;

/// The strength of the two accesses of a race, if both are loads, stores or atomic operations of threads. A weak access has no
/// scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Strength {
    /// The scope of the access of the fault.
    pub own: Option<Scope>,
    /// The scope of the other access.
    pub other: Option<Scope>,
    /// Whether both accesses are strong with scopes that include both threads, but access different bytes.
    pub differ: bool,
}

impl Race {
    /// The edit for accesses of which at least one is strong. `scope` includes both threads, `order` orders their accesses.
    pub(super) fn make_strong(&self, scope: Scope, order: &str) -> Option<String> {
        let Strength { own, other, differ } = self.strength?;
        let of = scope.name();
        let (access, which, strong) = match (own, other) {
            (None, None) => return None,
            (Some(_), Some(_)) if differ => {
                return Some(
                    "strong accesses do not race if they are of the same bytes: use one width for both".into(),
                );
            }
            (Some(_), Some(_)) => {
                return Some(format!("strong accesses do not race if their scopes include both threads: `{of}`"));
            }
            (None, Some(strong)) => (self.access, "this", strong),
            (Some(strong), None) => (self.other.access, "the earlier", strong),
        };
        let also = if strong < scope { format!(", and give the other access the scope `{of}`") } else { String::new() };
        Some(match access {
            "load" => format!(
                "if other threads may change the value meanwhile, make {which} load `ld.relaxed{of}` or `ld.acquire{of}`{also}; \
                 if not, put {order} between them"
            ),
            _ => format!(
                "if other threads wait for the value, make {which} store `st.release{of}`{also}; if not, put {order} between them"
            ),
        })
    }
}
