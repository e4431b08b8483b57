//! Runs a test on hosts of every kind.

/// Runs a block with the plain host, two host threads, the checked host, and 16 seeds, plain and checked.
macro_rules! everywhere {
    ($host:ident => $block:block) => {{
        {
            let $host = ptx_dsl::Host::new();
            $block
        }
        {
            let $host = ptx_dsl::Host::new().threads(2);
            $block
        }
        {
            let $host = ptx_dsl::Host::checked();
            $block
        }
        for seed in 0..16 {
            {
                let $host = ptx_dsl::Host::new().seed(seed);
                $block
            }
            {
                let $host = ptx_dsl::Host::checked().seed(seed);
                $block
            }
        }
    }};
}
pub(crate) use everywhere;
