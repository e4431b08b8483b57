//! Qualifiers and types of an instruction, as emitted code hands them to its semantics: constants that fold away.

pub use ptx_dsl_isa::qualifier::{Qualifier, q};
pub use ptx_dsl_isa::ty::Ty;

/// Words of the set of qualifiers.
const WORDS: usize = Qualifier::COUNT.div_ceil(64);

/// An instruction's qualifiers, as written, and its types, in the order written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    written: [u64; WORDS],
    /// The types, in the order written; `.pred` after the last.
    pub ty: [Ty; 4],
    /// The number of types written, 4 at most.
    pub types: usize,
}

impl Qualifiers {
    /// The qualifiers and types of an instruction. Types after the fourth are dropped.
    pub const fn new(qualifiers: &[Qualifier], ty: &[Ty]) -> Qualifiers {
        let mut q = Qualifiers { written: [0; WORDS], ty: [Ty::Pred; 4], types: 0 };
        let mut i = 0;
        while i < qualifiers.len() {
            let bit = qualifiers[i].index();
            q.written[bit / 64] |= 1 << (bit % 64);
            i += 1;
        }
        while q.types < ty.len() && q.types < 4 {
            q.ty[q.types] = ty[q.types];
            q.types += 1;
        }
        q
    }
}

/// The qualifiers of an instruction. A reference to a constant: what is read through it folds away at any level of optimisation,
/// while a copy does not where it is passed on to a function that is not inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Q(&'static Qualifiers);

impl Q {
    /// The qualifiers of a constant.
    #[inline(always)]
    pub const fn of(qualifiers: &'static Qualifiers) -> Q {
        Q(qualifiers)
    }

    /// No qualifiers.
    pub(crate) const NONE: Q = Q(&const { Qualifiers::new(&[], &[]) });

    /// The handle of these qualifiers and types.
    #[cfg(test)]
    pub fn new(qualifiers: &[Qualifier], ty: &[Ty]) -> Q {
        use std::sync::{Mutex, PoisonError};
        // reachable to the end, so that LeakSanitizer does not report them
        static LEAKED: Mutex<Vec<&Qualifiers>> = Mutex::new(Vec::new());
        let leaked: &'static Qualifiers = Box::leak(Box::new(Qualifiers::new(qualifiers, ty)));
        LEAKED.lock().unwrap_or_else(PoisonError::into_inner).push(leaked);
        Q(leaked)
    }

    /// [`Qualifiers::ty`], for constant functions.
    #[inline(always)]
    pub const fn types(self) -> [Ty; 4] {
        self.0.ty
    }

    /// [`Qualifiers::types`], for constant functions.
    #[inline(always)]
    pub const fn written(self) -> usize {
        self.0.types
    }

    /// The whole set of qualifiers and types.
    pub(crate) const fn qualifiers(self) -> &'static Qualifiers {
        self.0
    }

    /// Is the qualifier written?
    #[inline(always)]
    pub const fn has(self, qualifier: Qualifier) -> bool {
        let bit = qualifier.index();
        self.0.written[bit / 64] >> (bit % 64) & 1 != 0
    }
}

impl std::ops::Deref for Q {
    type Target = Qualifiers;

    #[inline(always)]
    fn deref(&self) -> &Qualifiers {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_given() {
        const S: Q = Q::of(&const { Qualifiers::new(&[q::rn, q::ftz, q::_1d, q::zero], &[Ty::F32, Ty::U8]) });
        assert!(S.has(q::rn) && S.has(q::ftz) && S.has(q::_1d) && S.has(q::zero));
        assert!(!S.has(q::rz) && !S.has(q::sat) && !S.has(q::shared_cta));
        assert_eq!((&S.ty[..S.types], S.types), (&[Ty::F32, Ty::U8][..], 2));
    }
}
