//! Counts of bytes.

use crate::{on_devices, on_schedules};
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, histogram};
use ptx_dsl_test_support::random::Random;

fn check(device: &dyn Device, n: usize) -> Result<(), Error> {
    let mut random = Random::new(n as u64);
    // small values are frequent
    let x: Vec<u8> = (0..n).map(|_| ((random.below(256u32) * random.below(256u32)) >> 8) as u8).collect();
    let mut counts = [7; 256];
    histogram::bytes(&device, &x, &mut counts)?;
    let mut expected = [0; 256];
    x.iter().for_each(|x| expected[usize::from(*x)] += 1);
    assert!(counts == expected, "{n} bytes");
    Ok(())
}

#[test]
fn any_length() {
    on_devices(|device| [0, 1, 15, 16, 4097, 100_003].iter().try_for_each(|n| check(device, *n)));
    on_schedules(|device| check(device, 17_001));
}
