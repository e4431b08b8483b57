//! Every kernel on the host, the checked host and many schedules, against plain Rust; every text through ptxas. With the feature `cuda` the
//! kernels run on a GPU, too, if there is one.

mod attention;
mod gemm;
mod histogram;
mod ptx;
mod reduce;
mod rows;
mod scan;
mod top_k;
mod transpose;
mod tune;

use ptx_dsl::Host;
use ptx_dsl_kernels::Error;
use ptx_dsl_test_support::random::Random;

/// Random numbers from -1 to 1.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| (random.word() as i32 as f64 / f64::from(1u32 << 31)) as f32).collect()
}

/// Runs a test on a plain host and on the checked one.
fn on_hosts(test: impl Fn(&dyn ptx_dsl::launch::Device) -> Result<(), Error>) {
    test(&Host::new()).expect("the plain host runs it");
    test(&Host::checked()).expect("the checked host has no complaint");
}

/// Runs a test on a plain host, on the checked one, and with the feature `cuda` on a GPU.
fn on_devices(test: impl Fn(&dyn ptx_dsl::launch::Device) -> Result<(), Error>) {
    on_hosts(&test);
    #[cfg(feature = "cuda")]
    if let Some(gpu) = gpu() {
        test(&gpu).expect("the GPU runs it");
    }
}

#[cfg(feature = "cuda")]
fn gpu() -> Option<ptx_dsl::cuda::Gpu> {
    use ptx_dsl::cuda::Gpu;
    if !Gpu::available() {
        println!("no GPU here: hosts alone");
        return None;
    }
    // SAFETY: the kernels of this crate access their arguments alone.
    #[allow(unsafe_code)]
    Some(unsafe { Gpu::new(0) }.expect("a GPU"))
}

/// Runs a test with 32 schedules of the checked host.
fn on_schedules(test: impl Fn(&dyn ptx_dsl::launch::Device) -> Result<(), Error>) {
    let run = |host: &Host<ptx_dsl::Checked>| match test(host) {
        Ok(()) => Ok(()),
        Err(Error::Launch(error)) => Err(error),
        Err(error) => panic!("{error}"),
    };
    Host::checked().explore(32).run(run).expect("every schedule ends");
}
