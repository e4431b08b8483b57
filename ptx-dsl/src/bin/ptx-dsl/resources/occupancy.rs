//! Occupancy: how many CTAs fit on an SM, what limits that, and what one more would need. The rules are those of the occupancy calculator
//! of CUDA: registers are allocated to warps in units of 256 within each of the four parts of an SM, shared memory to CTAs in units of 128
//! bytes, with 1,024 bytes that the system takes.

/// What an SM of a target has.
#[derive(Debug, Clone, Copy)]
pub struct Sm {
    /// The number of the target.
    pub target: u32,
    warps: u32,
    blocks: u32,
    /// Shared memory in bytes.
    shared: u32,
}

const fn sm(target: u32, warps: u32, blocks: u32, shared_kib: u32) -> Sm {
    Sm { target, warps, blocks, shared: shared_kib * 1024 }
}

/// The table of the CUDA C++ programming guide, "Technical Specifications per Compute Capability".
pub const SMS: [Sm; 10] = [
    sm(80, 64, 32, 164),
    sm(86, 48, 16, 100),
    sm(87, 48, 16, 164),
    sm(89, 48, 24, 100),
    sm(90, 64, 32, 228),
    sm(100, 64, 32, 228),
    sm(103, 64, 32, 228),
    sm(110, 48, 24, 228),
    sm(120, 48, 24, 100),
    sm(121, 48, 24, 100),
];

const REGISTERS: u32 = 65536;
const PARTS: u32 = 4;
const REGISTER_UNIT: u32 = 256;
const SHARED_UNIT: u32 = 128;
/// Bytes of each CTA that the system takes.
const RESERVED: u32 = 1024;

/// What a CTA of a kernel needs.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    pub threads: u32,
    /// Of a thread; `None` if they are not known.
    pub registers: Option<u32>,
    /// Bytes, static and dynamic.
    pub shared: u32,
}

/// The resource that is used up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Registers,
    Shared,
    Warps,
    Blocks,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Limit::Registers => "registers",
            Limit::Shared => "shared memory",
            Limit::Warps => "warps of an SM",
            Limit::Blocks => "CTAs of an SM",
        }
    }
}

/// How a kernel fits on an SM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupancy {
    /// CTAs.
    pub blocks: u32,
    pub warps: u32,
    pub most_warps: u32,
    /// All that allow no more.
    pub limits: Vec<Limit>,
}

/// CTAs that the registers of an SM hold.
fn by_registers(registers: u32, warps: u32) -> u32 {
    let of_warp = (registers * 32).next_multiple_of(REGISTER_UNIT);
    if of_warp == 0 {
        return u32::MAX;
    }
    // a CTA is checked as if it were spread over all parts
    if of_warp * warps.next_multiple_of(PARTS) > REGISTERS {
        return 0;
    }
    REGISTERS / PARTS / of_warp * PARTS / warps
}

impl Sm {
    fn by_shared(self, bytes: u32) -> u32 {
        self.shared / (bytes + RESERVED).next_multiple_of(SHARED_UNIT)
    }

    /// How many CTAs fit.
    pub fn occupancy(self, needs: &Needs) -> Occupancy {
        let warps = needs.threads.div_ceil(32).max(1);
        let all = [
            (Limit::Registers, needs.registers.map_or(u32::MAX, |registers| by_registers(registers, warps))),
            (Limit::Shared, self.by_shared(needs.shared)),
            (Limit::Warps, self.warps / warps),
            (Limit::Blocks, self.blocks),
        ];
        let blocks = all.iter().map(|(_, n)| *n).min().unwrap_or(0);
        let limits = all.iter().filter(|(_, n)| *n == blocks).map(|(limit, _)| *limit).collect();
        Occupancy { blocks, warps: blocks * warps, most_warps: self.warps, limits }
    }

    /// What one more CTA would need, in words. `None` if an SM has no more.
    pub fn next(self, needs: &Needs, now: &Occupancy) -> Option<String> {
        let (wanted, warps) = (now.blocks + 1, needs.threads.div_ceil(32).max(1));
        if now.limits.contains(&Limit::Warps) || now.limits.contains(&Limit::Blocks) {
            return None;
        }
        let mut parts = Vec::new();
        if now.limits.contains(&Limit::Registers) {
            let most = (1..needs.registers?).rev().find(|registers| by_registers(*registers, warps) >= wanted)?;
            parts.push(format!("at most {most} registers"));
        }
        if now.limits.contains(&Limit::Shared) {
            let most = (self.shared / wanted / SHARED_UNIT * SHARED_UNIT).checked_sub(RESERVED)?;
            parts.push(format!("at most {most} bytes of shared memory, {} fewer", needs.shared.checked_sub(most)?));
        }
        Some(parts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(target: u32, threads: u32, registers: u32, shared: u32) -> (u32, Vec<Limit>, Option<String>) {
        let sm = SMS.into_iter().find(|sm| sm.target == target).unwrap();
        let needs = Needs { threads, registers: Some(registers), shared };
        let occupancy = sm.occupancy(&needs);
        let next = sm.next(&needs, &occupancy);
        (occupancy.blocks, occupancy.limits, next)
    }

    #[test]
    fn occupancy_is_that_of_the_calculator_of_cuda() {
        // `CUDA.active_blocks` says 4 for 200 registers and 5 for 168, with 16,888 bytes of shared memory on sm_89
        assert_eq!(on(89, 64, 200, 16888), (4, vec![Limit::Registers], Some("at most 168 registers".into())));
        assert_eq!(on(89, 64, 168, 16888).0, 5);
        // 40 registers: 1,280 of a warp, 12 warps in each part
        assert_eq!(on(90, 32, 40, 0), (32, vec![Limit::Blocks], None));
        assert_eq!(on(120, 256, 32, 0), (6, vec![Limit::Warps], None));
        // 227 KiB is the most that a CTA of sm_90 can have
        assert_eq!(on(90, 128, 32, 227 * 1024).0, 1);
        assert_eq!(on(90, 128, 32, 227 * 1024 + 1).0, 0);
        let next = Some("at most 115712 bytes of shared memory, 4288 fewer".into());
        assert_eq!(on(90, 128, 32, 120_000), (1, vec![Limit::Shared], next));
        // no CTA of 1,024 threads with more than 64 registers
        assert_eq!((on(80, 1024, 64, 0).0, on(80, 1024, 65, 0).0), (1, 0));
    }
}
