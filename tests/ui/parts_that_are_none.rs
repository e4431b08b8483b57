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
