use ptx_dsl::ptx;

mod parts {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        use super::other;
        pub(crate) part relative { }
    }

    ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part dollar { .inline f() { bra $end; $end: } }
    }

    ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part one { }
        pub(crate) part two { }
    }

    ptx! {
        <sm_90, ptx 8.0>
        .shared .b32 word;
        pub(crate) part beside { .inline f(.reg .b32 %r) { ld.shared.b32 %r, [word]; } }
        .visible .entry beside_a_part() { bogus; }
    }

    ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part around {
            .visible .entry in_a_part() { ret; }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    use parts::one as two;
    part renamed { .inline f() { two::g!(); } }
}

ptx! {
    <sm_90, ptx 8.0>
    use parts::one as;
    .visible .entry l() { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    use parts::none;
    .visible .entry k() { ret; }
}

fn main() {}
