use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 9.3>
    .visible .entry k() .pragma "mma_throughput"; {
        ret;
    }
}

fn main() {}
