//! Devices that agree, and what is said where they do not: hosts of both engines, the checked host, and devices that do something wrong.

use ptx_dsl::agree::{AgreeError, Agreement, Bound, Difference};
use ptx_dsl::launch::{Device, KernelCode};
use ptx_dsl::prelude::*;
use ptx_dsl::{Engine, Error};

ptx! {
    <sm_80, ptx 7.8, compiled>
    // y[i] = a * x[i] for the `n` elements after the first; thread (0, 1) of CTA 1 writes element 12
    .visible .entry times(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a)
    .reqntid 4, 2
    {
        .reg .b32 %i, %t, %c;
        .reg .b64 %x, %y;
        .reg .f32 %a, %v;
        mov.u32 %i, %tid.y;
        mov.u32 %t, %tid.x;
        mad.lo.u32 %i, %i, 4, %t;
        mov.u32 %c, %ctaid.x;
        mad.lo.u32 %i, %c, 8, %i;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.f32 %a, [a];
        mad.wide.u32 %x, %i, 4, %x;
        mad.wide.u32 %y, %i, 4, %y;
        ld.global.f32 %v, [%x];
        mul.f32 %v, %v, %a;
        st.global.f32 [%y], %v;
        ret;
    }
}

/// A host that changes a bit of the argument with this index after a launch with this number.
struct Wrong {
    host: Host,
    launch: std::cell::Cell<u32>,
    argument: usize,
    byte: usize,
    bit: u8,
}

impl Wrong {
    fn after(launch: u32, argument: usize, byte: usize, bit: u8) -> Self {
        Wrong { host: Host::new(), launch: launch.into(), argument, byte, bit }
    }
}

impl Device for Wrong {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        let left = self.launch.get();
        self.launch.set(left.wrapping_sub(1));
        if left != 0 {
            return self.host.launch_code(code, launch, args);
        }
        let report = self.host.launch_code(code, launch, args)?;
        let passed = ptx_dsl::__private::launch::passed(code.info(), &Launch::grid(1), args)?;
        for (index, one) in passed.into_iter().enumerate() {
            if let (ptx_dsl::launch::Passed::Buffer(mut bytes, _), true) = (one, index == self.argument) {
                bytes.writable().expect("a buffer that kernels write")[self.byte] ^= self.bit;
            }
        }
        Ok(report)
    }
}

/// Runs two launches, the second on a part of a buffer; returns the results.
fn two(device: &impl Device) -> Result<Vec<f32>, Error> {
    let x: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let mut y = Host::new().zeroed::<f32>(17);
    times.launch(device, Launch::grid(2), (&x, &mut y[..16], 2.0))?;
    times.launch(device, Launch::grid(2), (&x, &mut y[1..], 3.0))?;
    Ok(y.to_vec())
}

fn difference(wrong: &Wrong, bound: Option<Bound>) -> Result<(), Box<Difference>> {
    let host = Host::new();
    let agreement = Agreement::new("host", &host).with("wrong", wrong);
    let agreement = match bound {
        Some(bound) => agreement.within("y", bound),
        None => agreement,
    };
    match agreement.run(|device| two(device)) {
        Ok(_) => Ok(()),
        Err(error) => match *error {
            AgreeError::Differs(difference) => Err(Box::new(difference)),
            other => panic!("{other}"),
        },
    }
}

#[test]
fn hosts_of_both_engines_and_the_checked_host_agree() {
    let compiled = Host::new().engine(Engine::Compiled);
    let interpreted = Host::new().engine(Engine::Interpreted);
    let (checked, none): (_, Result<&Host, &str>) = (Host::checked(), Err("no driver"));
    let agreed = Agreement::new("compiled", &compiled)
        .with("interpreted", &interpreted)
        .with("checked", &checked)
        .with_if("GPU", none)
        .run(|device| two(device))
        .unwrap();
    assert_eq!((agreed.launches, agreed.result[1], agreed.result[16]), (2, 0.0, 45.0));
    assert_eq!(
        agreed.to_string(),
        "2 launches: `compiled` and `interpreted` and `checked` agree; `GPU` was left out: no driver"
    );
}

#[test]
fn the_first_difference_names_the_element_and_who_wrote_it() {
    let difference = difference(&Wrong::after(1, 1, 4 * 12, 1), None).unwrap_err();
    let text = difference.to_string();
    assert_eq!((difference.launch, difference.index, difference.count, difference.elements), (2, 12, 1, 16));
    let writer = difference.writer.expect("a thread writes it");
    assert_eq!((writer.cta, writer.thread, writer.is_asynchronous), ([1, 0, 0], [0, 1, 0], false));
    let line = times::PTX.lines().position(|line| line.contains("st.global.f32")).unwrap() + 1;
    let expected = format!(
        "`times`, launch 2: `y` differs at element 12, and in 1 of 16\n  host: 0x42100000 (36.0 as f32)\n  wrong: 0x42100001 \
         (36.000003814697266 as f32)\n  on a host, thread [0, 1, 0] of CTA [1, 0, 0] writes it last: `st.global.f32 [%y], %v;` (PTX line {line}"
    );
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("agree.rs:"), "{text}");
}

#[test]
fn within_a_bound_they_agree() {
    let last_bit = || Wrong::after(0, 1, 4 * 3, 1);
    assert!(difference(&last_bit(), None).is_err());
    assert!(difference(&last_bit(), Some(Bound::f32(1e-6))).is_ok());
    assert!(difference(&last_bit(), Some(Bound::f32(1e-9))).is_err());
    let exponent = difference(&Wrong::after(0, 1, 4 * 3 + 3, 1), Some(Bound::f32(1e-6))).unwrap_err();
    assert!(exponent.to_string().contains("host: 0x40c00000 (6.0)"), "{exponent}");
}

#[test]
fn an_element_that_only_the_other_device_writes_has_no_writer() {
    let host = Host::new();
    let wrong = Wrong::after(0, 1, 4 * 20, 1);
    let run = |device: &ptx_dsl::agree::Watched<'_>| {
        let mut y = vec![0.0; 32];
        times.launch(device, Launch::grid(2), (&[1.0; 16], &mut y, 1.0))
    };
    let error = Agreement::new("host", &host).with("wrong", &wrong).run(run).unwrap_err();
    assert!(error.to_string().ends_with("on a host, no thread of this launch writes it"), "{error}");
}

#[test]
fn an_error_or_another_launch_is_said() {
    let (host, other) = (Host::new(), Host::new());
    let agreement = Agreement::new("host", &host).with("other", &other);
    let runs = std::cell::Cell::new(0);
    let again = || runs.replace(runs.get() + 1);
    let x = vec![1.0; 16];
    let error = agreement.run(|device| {
        let mut y = vec![0.0; 16 + again()];
        times.launch(device, Launch::grid(2), (&x, &mut y, 1.0))
    });
    assert!(error.unwrap_err().to_string().contains("must do the same each time"));
    let error = agreement.run(|device| times.launch(device, Launch::grid(9), (&x, &mut [0.0; 16], 1.0)));
    let error = error.unwrap_err();
    assert!(
        matches!(&*error, AgreeError::Failed { device, error } if device == "host" && error.fault().is_some()),
        "{error}"
    );
}
