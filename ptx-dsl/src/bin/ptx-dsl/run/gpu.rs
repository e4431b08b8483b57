//! A launch on a GPU, which can be compared with the same launch on a host.

use clap::ArgMatches;
use ptx_dsl::Host;
use ptx_dsl::cuda::Gpu;
use ptx_dsl::load::Kernel;

use super::data::Data;
use super::launch::{Launched, Outcome, dimensioned};
use super::runs::launch_once;
use super::values::Value;

/// Launches the kernel on the GPU of this number. The error is about the options, or there is no such GPU.
pub fn launch(ordinal: usize, matches: &ArgMatches, kernel: &Kernel, values: &mut [Value]) -> Result<Launched, String> {
    // SAFETY: whoever gives `--gpu` asks for this kernel with these arguments; this process holds nothing else that it could damage.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(ordinal) }.map_err(|e| e.to_string())?;
    let of = dimensioned(matches, kernel)?;
    let mut on_host = matches.get_flag("compare").then(|| values.to_vec());
    let result = launch_once(kernel, &gpu.timed().explain_failures(), of.launch.clone(), values);
    let failures = match (&result, &mut on_host) {
        (Ok(_), Some(on_host)) => match launch_once(kernel, &Host::new(), of.launch.clone(), on_host) {
            Ok(_) => differences(kernel, values, on_host),
            Err(error) => vec![format!("the kernel ran on the GPU, but not on the host: {error}")],
        },
        _ => Vec::new(),
    };
    let outcome = |report| Outcome::once(report, of.words());
    Ok(Launched { result: result.map(outcome), failures })
}

/// The buffers in which a GPU and a host differ, in words.
fn differences(kernel: &Kernel, gpu: &[Value], host: &[Value]) -> Vec<String> {
    let pairs = kernel.parameters().iter().zip(gpu.iter().zip(host));
    let one = |(p, pair): (&ptx_dsl::load::Parameter, (&Value, &Value))| match pair {
        (Value::Buffer(gpu), Value::Buffer(host)) => difference(&p.name, gpu, host),
        _ => None,
    };
    pairs.filter_map(one).collect()
}

/// The first element that differs, and how many do.
fn difference(name: &str, gpu: &Data, host: &Data) -> Option<String> {
    let size = (gpu.ty.bits() as usize).div_ceil(8).max(1);
    let pairs = || gpu.bytes.chunks(size).zip(host.bytes.chunks(size));
    let first = pairs().position(|(gpu, host)| gpu != host)?;
    let hex = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (on_gpu, on_host) = pairs().nth(first).map(|(gpu, host)| (hex(gpu), hex(host)))?;
    let (different, all) = (pairs().filter(|(gpu, host)| gpu != host).count(), pairs().count());
    Some(format!(
        "`{name}[{first}]` is 0x{on_gpu} on the GPU and 0x{on_host} on the host; {different} of {all} elements differ"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_frontend::ty::Ty;

    #[test]
    fn a_difference_names_the_first_element_and_their_number() {
        let data = |bytes: &[u8]| Data {
            ty: Ty::U16,
            small: None,
            shape: vec![bytes.len() as u64 / 2],
            bytes: bytes.to_vec(),
        };
        assert_eq!(difference("x", &data(&[1, 2, 3, 4]), &data(&[1, 2, 3, 4])), None);
        let found = difference("x", &data(&[1, 2, 3, 4, 5, 6]), &data(&[1, 2, 3, 9, 0, 6]));
        assert_eq!(found.unwrap(), "`x[1]` is 0x0403 on the GPU and 0x0903 on the host; 2 of 3 elements differ");
    }
}
