//! The lattice of uniformity: which threads share a value. What else is known of it, numbers for each thread or rows of lanes with a
//! constant stride, is a lattice above this one ([`crate::lanes`], [`crate::affine`]).

use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies};

/// The threads that share a value. The order is that of the lattice; the join of two values is the least (`min`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uniformity {
    /// No sharing is known.
    None,
    /// The lanes of a warp.
    Warp,
    /// The threads of a CTA.
    Cta,
}

/// The uniformity of a special register. One that varies in time is the same in a warp, which reads it once.
pub fn special_register(register: SpecialRegister) -> Uniformity {
    match register.row().varies {
        Varies::WithThread => Uniformity::None,
        Varies::WithWarp | Varies::InTime => Uniformity::Warp,
        Varies::Never | Varies::WithRank | Varies::WithCluster | Varies::WithCta => Uniformity::Cta,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::isa::sreg::special;

    #[test]
    fn special_registers_are_as_uniform_as_their_scope() {
        let of = |name| special_register(SpecialRegister::of(name));
        assert_eq!(special_register(special::tid_x), Uniformity::None);
        assert_eq!((of("%warpid"), of("%clock")), (Uniformity::Warp, Uniformity::Warp));
        assert_eq!(
            (of("%ctaid.x"), of("%ntid.x"), of("%cluster_ctarank")),
            (Uniformity::Cta, Uniformity::Cta, Uniformity::Cta)
        );
    }

    #[test]
    fn the_join_is_the_least() {
        assert_eq!(Uniformity::Cta.min(Uniformity::Warp), Uniformity::Warp);
        assert_eq!(Uniformity::Warp.min(Uniformity::None), Uniformity::None);
    }
}
