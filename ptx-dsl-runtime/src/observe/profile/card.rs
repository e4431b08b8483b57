//! Cards and their published peaks, for the roofline of a profile.

/// A card of a data centre.
///
/// ```
/// # use ptx_dsl_runtime as ptx_dsl;
/// use ptx_dsl::profile::Card;
/// assert_eq!(Card::H200.peaks().sms, 132);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Card {
    /// A100 SXM with 80 GB.
    A100,
    /// L40S.
    L40s,
    /// H100 SXM.
    H100,
    /// H200 SXM.
    H200,
    /// B200 SXM.
    B200,
}

/// What a card can do at most, as NVIDIA has published it: operations in a second, without sparsity, and bytes in a second.
///
/// - A100: "NVIDIA A100 Tensor Core GPU" datasheet (2021), and table 1 of the architecture whitepaper for `.f16` outside of tensor cores.
/// - L40S: "NVIDIA L40S" datasheet (2023). Ada has 2 units for `.f64` in each SM ("NVIDIA Ada GPU Architecture" whitepaper), a 64th of
///   those for `.f32`.
/// - H100: "NVIDIA H100 Tensor Core GPU" datasheet (2023), column SXM, and table 3 of the Hopper architecture whitepaper for `.f16` outside
///   of tensor cores. The datasheet has rates with sparsity, which are twice those here.
/// - H200: "NVIDIA H200 Tensor Core GPU" datasheet (2024), column SXM; compute as that of an H100.
/// - B200: "NVIDIA Blackwell" HGX B200 datasheet (2025), an eighth of the numbers for eight cards.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Peaks {
    /// The name of the card.
    pub name: &'static str,
    /// The number of its target: 90 for `sm_90`.
    pub target: u32,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Bytes from and to DRAM.
    pub bytes: f64,
    /// Operations on `.f16` outside of tensor cores.
    pub f16: f64,
    /// Operations on `.f32` outside of tensor cores.
    pub f32: f64,
    /// Operations on `.f64` outside of tensor cores.
    pub f64: f64,
    /// Operations of tensor cores on `.f16` and `.bf16`.
    pub tensor_f16: f64,
    /// Operations of tensor cores on `.tf32`.
    pub tensor_tf32: f64,
    /// Operations of tensor cores on elements of 8 bits, or of 6: `.e4m3`, `.s8`. 0 without them.
    pub tensor_8: f64,
    /// Operations of tensor cores on floating-point elements of 4 bits. 0 without them.
    pub tensor_4: f64,
    /// Operations of tensor cores on `.f64`. 0 without them.
    pub tensor_f64: f64,
    /// Operations of the tensor cores of an SM on `.f16` in a clock cycle, in which its shared memory gives 128 bytes.
    pub tensor_f16_per_clock: f64,
}

const TERA: f64 = 1e12;

impl Card {
    /// All cards.
    pub const ALL: [Card; 5] = [Card::A100, Card::L40s, Card::H100, Card::H200, Card::B200];

    /// The card of this name, in any case of letters.
    pub fn from_name(name: &str) -> Option<Card> {
        Card::ALL.into_iter().find(|card| card.peaks().name.eq_ignore_ascii_case(name))
    }

    /// What the card can do at most.
    pub fn peaks(self) -> Peaks {
        let h100 = Peaks {
            name: "H100",
            target: 90,
            sms: 132,
            bytes: 3.35 * TERA,
            f16: 133.8 * TERA,
            f32: 67.0 * TERA,
            f64: 34.0 * TERA,
            tensor_f16: 989.5 * TERA,
            tensor_tf32: 494.5 * TERA,
            tensor_8: 1979.0 * TERA,
            tensor_4: 0.0,
            tensor_f64: 67.0 * TERA,
            tensor_f16_per_clock: 4096.0,
        };
        match self {
            Card::A100 => Peaks {
                name: "A100",
                target: 80,
                sms: 108,
                bytes: 2.039 * TERA,
                f16: 78.0 * TERA,
                f32: 19.5 * TERA,
                f64: 9.7 * TERA,
                tensor_f16: 312.0 * TERA,
                tensor_tf32: 156.0 * TERA,
                tensor_8: 624.0 * TERA,
                tensor_4: 0.0,
                tensor_f64: 19.5 * TERA,
                tensor_f16_per_clock: 2048.0,
            },
            Card::L40s => Peaks {
                name: "L40S",
                target: 89,
                sms: 142,
                bytes: 0.864 * TERA,
                f16: 91.6 * TERA,
                f32: 91.6 * TERA,
                f64: 91.6 * TERA / 64.0,
                tensor_f16: 362.05 * TERA,
                tensor_tf32: 183.0 * TERA,
                tensor_8: 733.0 * TERA,
                tensor_4: 0.0,
                tensor_f64: 0.0,
                tensor_f16_per_clock: 1024.0,
            },
            Card::H100 => h100,
            Card::H200 => Peaks { name: "H200", bytes: 4.8 * TERA, ..h100 },
            Card::B200 => Peaks {
                name: "B200",
                target: 100,
                sms: 148,
                bytes: 7.75 * TERA,
                f16: 150.0 * TERA,
                f32: 75.0 * TERA,
                f64: 37.0 * TERA,
                tensor_f16: 2250.0 * TERA,
                tensor_tf32: 1125.0 * TERA,
                tensor_8: 4500.0 * TERA,
                tensor_4: 9000.0 * TERA,
                tensor_f64: 37.0 * TERA,
                tensor_f16_per_clock: 8192.0,
            },
        }
    }
}

impl Peaks {
    /// Operations of tensor cores in a second on elements of a type, `None` if the card has none, or NVIDIA has not published them. Sparse
    /// products count the zeros that they leave out, and so are twice as fast.
    pub fn tensor(&self, element: &str, sparse: bool) -> Option<f64> {
        let dense = match element {
            "f16" | "bf16" => self.tensor_f16,
            "tf32" => self.tensor_tf32,
            "f64" => self.tensor_f64,
            "e4m3" | "e5m2" | "e3m2" | "e2m3" | "s8" | "u8" => self.tensor_8,
            "e2m1" if self.tensor_4 > 0.0 => self.tensor_4,
            _ => 0.0,
        };
        (dense > 0.0).then_some(if sparse { 2.0 * dense } else { dense })
    }
}
