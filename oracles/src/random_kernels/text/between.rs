//! Statements that threads execute together: exchanges through shared memory, copies, matrix products, barriers and collectives.

use super::super::copies::{self, MERGES};
use super::super::matrices::{self, MMAS, Sum};
use super::super::program::{Class, Collective, GENERAL, Halves, LANE, LINEAR, Matrix, Meeting, Mode, OWN};
use super::super::tensors::TENSORS;
use super::super::warpgroups;
use super::{Printer, register, source};

impl Printer<'_> {
    pub(super) fn exchange(&mut self, to: u8, from: u8, shift: u32, meeting: Meeting) {
        self.line(&format!("st.shared.u32 [%tile], %r{from};"));
        self.meet(meeting);
        self.line("mov.u32 %t1, %ntid.x;\nmov.u32 %t2, %ntid.y;\nmul.lo.u32 %t1, %t1, %t2;");
        match meeting {
            Meeting::Warp => {
                self.line(&format!("add.u32 %t0, %r{LINEAR}, {shift};\nand.b32 %t0, %t0, 31;"));
                self.line(&format!("and.b32 %t1, %r{LINEAR}, -32;\nadd.u32 %t0, %t0, %t1;"));
            }
            Meeting::Cluster | Meeting::Remote => {
                self.line("mov.u32 %t2, %cluster_ctarank;");
                self.line(&format!("mad.lo.u32 %t0, %t2, %t1, %r{LINEAR};\nadd.u32 %t0, %t0, {shift};"));
                self.line("mov.u32 %t2, %cluster_nctarank;\nmul.lo.u32 %t2, %t2, %t1;\nrem.u32 %t0, %t0, %t2;");
                self.line("div.u32 %t2, %t0, %t1;\nrem.u32 %t0, %t0, %t1;");
            }
            _ => self.line(&format!("add.u32 %t0, %r{LINEAR}, {shift};\nrem.u32 %t0, %t0, %t1;")),
        }
        self.line("mov.u32 %t1, tile;\nmad.lo.u32 %t0, %t0, 4, %t1;");
        if matches!(meeting, Meeting::Cluster | Meeting::Remote) {
            self.line("mapa.shared::cluster.u32 %t0, %t0, %t2;");
            self.line(&format!("ld.shared::cluster.u32 %r{to}, [%t0];"));
        } else {
            self.line(&format!("ld.shared.u32 %r{to}, [%t0];"));
        }
        self.meet(meeting);
    }

    pub(super) fn send(&mut self, to: u8, from: u8, shift: u32, merge: Option<usize>) {
        let threads = self.program.threads();
        let all = threads * self.program.cluster;
        self.line(&format!("st.shared.u32 [%tile], %r{from};"));
        self.meet(Meeting::Cluster);
        self.line(&format!("mov.u32 %t2, %cluster_ctarank;\nmad.lo.u32 %t0, %t2, {threads}, %r{LINEAR};"));
        self.line(&format!("add.u32 %t0, %t0, {shift};\nrem.u32 %t0, %t0, {all};"));
        self.line(&format!("div.u32 %t2, %t0, {threads};\nrem.u32 %t0, %t0, {threads};"));
        self.line("mov.u32 %t1, tile;\nmad.lo.u32 %t0, %t0, 4, %t1;\nmov.u32 %t1, flow;");
        self.line("mapa.shared::cluster.u32 %t0, %t0, %t2;\nmapa.shared::cluster.u32 %t1, %t1, %t2;");
        let completed = "shared::cluster.mbarrier::complete_tx::bytes";
        let opcode = match merge {
            None => format!("st.async.weak.{completed}.u32"),
            Some(merge) => format!("red.async.relaxed.cluster.{completed}.{}", MERGES[merge].name),
        };
        self.line(&format!("{opcode} [%t0], %r{from}, [%t1];\nsetp.eq.u32 %q, %r{LINEAR}, 0;"));
        self.line(&format!("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], {};", 4 * threads));
        self.flow();
        self.line(&format!("ld.shared.u32 %r{to}, [%tile];"));
        self.meet(Meeting::Cluster);
    }

    pub(super) fn deliver(&mut self, merge: Option<usize>) {
        self.meet(Meeting::Cluster);
        let (half, cluster) = (OWN / 2, self.program.cluster);
        self.line(&format!("fence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 %x, [%gate], {half};"));
        self.line(&format!("mov.u32 %t2, %cluster_ctarank;\nadd.u32 %t2, %t2, 1;\nrem.u32 %t2, %t2, {cluster};"));
        self.line(&format!("add.u32 %t0, %shared, {half};\nmapa.shared::cluster.u32 %t0, %t0, %t2;"));
        self.line("mapa.shared::cluster.u32 %t1, %gate, %t2;");
        let what = "shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
        let opcode = match merge {
            None => format!("cp.async.bulk.{what}"),
            Some(merge) => format!("cp.reduce.async.bulk.{what}.{}", MERGES[merge].name),
        };
        self.line(&format!("{opcode} [%t0], [%shared], {half}, [%t1];"));
        let label = self.label();
        self.line(&copies::wait(label, ""));
        self.meet(Meeting::Cluster);
    }

    pub(super) fn multicast(&mut self, to: u8, index: u8, first: u32) {
        self.meet(Meeting::Cluster);
        self.line(&format!("setp.eq.u32 %q, %r{LINEAR}, 0;"));
        self.line("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], 64;");
        self.line("mov.u32 %t0, %cluster_ctarank;\nsetp.eq.and.u32 %q, %t0, 0, %q;");
        let (at, mask) = (16 * first, (1 << self.program.cluster) - 1);
        let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
        self.line(&format!("mov.b16 %n, {mask};"));
        self.line(&format!("@%q {copy}.multicast::cluster [board], [%table+{at}], 64, [flow], %n;"));
        self.flow();
        self.line(&format!("and.b32 %t0, %r{index}, 15;\nmov.u32 %t1, board;\nmad.lo.u32 %t0, %t0, 4, %t1;"));
        self.line(&format!("ld.shared.u32 %r{to}, [%t0];"));
        self.meet(Meeting::Cluster);
    }

    pub(super) fn tensor(&mut self, to: u8, index: u8, at: &[i32]) {
        let tensor = &TENSORS[self.program.tensor];
        self.meet(Meeting::Barrier);
        self.line("mov.b64 %x, map;\ncvta.param.u64 %x, %x;");
        self.line(&format!("setp.eq.u32 %q, %r{LINEAR}, 0;\n@%q {}", tensor.opcode(at)));
        self.line(&format!("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], {};", 4 * tensor.words()));
        self.flow();
        self.line(&format!("rem.u32 %t0, %r{index}, {};\nmov.u32 %t1, board;", tensor.words()));
        self.line(&format!("mad.lo.u32 %t0, %t0, 4, %t1;\nld.shared.u32 %r{to}, [%t0];"));
        self.meet(Meeting::Barrier);
    }

    pub(super) fn warpgroup(&mut self, [d, a]: [u8; 2], mask: u32, b: Halves, adds: bool) {
        // B is what other threads of the warpgroup have stored
        self.line("fence.proxy.async;");
        self.meet(Meeting::Barrier);
        for i in 0..4 {
            self.line(&format!("and.b32 %m{i}, %r{}, {mask};", (a + i) % GENERAL));
        }
        self.line(&format!("and.b32 %t0, %r{LINEAR}, -128;\nmov.u32 %t1, mine;\nmad.lo.u32 %t0, %t0, {OWN}, %t1;"));
        self.line(&format!(
            "add.u32 %t0, %t0, {};\nand.b32 %t0, %t0, 0x3FFFF;\nshr.u32 %t0, %t0, 4;\ncvt.u64.u32 %x, %t0;",
            16 * b.first
        ));
        self.line(&format!("or.b64 %x, %x, {};\nsetp.eq.u32 %q, {}, 1;", b.descriptor(), u32::from(adds)));
        let list = (0..4).map(|i| format!("%f{}", (d + i) % 4)).collect::<Vec<_>>().join(", ");
        self.line("wgmma.fence.sync.aligned;");
        self.line(&format!("{} {{{list}}}, {{%m0, %m1, %m2, %m3}}, %x, %q, 1, 1, 0;", warpgroups::OPCODE));
        self.line("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
        self.meet(Meeting::Barrier);
    }

    /// Waits for what other threads send to the CTA.
    pub(super) fn flow(&mut self) {
        let again = self.label();
        let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [flow], %stream;";
        self.line(&format!("L{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %stream, %stream, 1;"));
    }

    pub(super) fn matrix(&mut self, matrix: &Matrix) {
        let opcode = matrices::opcode(matrix);
        match matrix {
            Matrix::Mma { which, d, a, b, c, mask } => {
                let form = &MMAS[*which];
                let (a_count, b_count, c_count) = form.registers();
                let sums = matrices::class(form.sum);
                let list = |class: Class, first: u8, count: usize| {
                    let one = |i: usize| register(class, (first + i as u8) % class.count());
                    format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(", "))
                };
                let (a, b) = if form.sum == Sum::F64 {
                    (list(Class::E, *a, a_count), list(Class::E, *b, b_count))
                } else {
                    let operands = (0..a_count as u8).map(|i| a + i).chain((0..b_count as u8).map(|i| b + i));
                    for (i, from) in operands.enumerate() {
                        self.line(&format!("and.b32 %m{i}, %r{}, {mask};", from % GENERAL));
                    }
                    let list = |range: std::ops::Range<usize>| {
                        format!("{{{}}}", range.map(|i| format!("%m{i}")).collect::<Vec<_>>().join(", "))
                    };
                    (list(0..a_count), list(a_count..a_count + b_count))
                };
                let (d, c) = (list(sums, *d, c_count), list(sums, *c, c_count));
                self.line(&format!("mma.sync.aligned.{} {d}, {a}, {b}, {c};", form.text));
            }
            Matrix::Move { to, from } => self.line(&format!("{opcode} %r{to}, %r{from};")),
            Matrix::Load { registers, step, shift, .. } | Matrix::Store { registers, step, shift, .. } => {
                self.line("bar.warp.sync 0xffffffff;");
                self.line(&format!("mad.lo.u32 %t0, %r{LANE}, {step}, {shift};\nand.b32 %t0, %t0, 63;"));
                self.line(&format!("shl.b32 %t0, %t0, 4;\nand.b32 %t1, %r{LINEAR}, -32;\nmov.u32 %t2, mine;"));
                self.line(&format!("mad.lo.u32 %t1, %t1, {OWN}, %t2;\nadd.u32 %t0, %t0, %t1;"));
                let list = registers.iter().map(|r| format!("%r{r}")).collect::<Vec<_>>().join(", ");
                if matches!(matrix, Matrix::Load { .. }) {
                    self.line(&format!("{opcode} {{{list}}}, [%t0];"));
                } else {
                    self.line(&format!("{opcode} [%t0], {{{list}}};"));
                }
                self.line("bar.warp.sync 0xffffffff;");
            }
        }
    }

    pub(super) fn meet(&mut self, meeting: Meeting) {
        let again = self.label();
        let arrive = "mbarrier.arrive.shared.b64 %x, [meeting];";
        let wait = match meeting {
            Meeting::Parity => "mbarrier.try_wait.parity.shared.b64 %q, [meeting], %phase;",
            _ => "mbarrier.test_wait.shared.b64 %q, [meeting], %x;",
        };
        self.line(&match meeting {
            Meeting::Barrier => "bar.sync 0;".to_owned(),
            Meeting::Named => format!("barrier.sync 3, {};", self.program.threads().next_multiple_of(32)),
            Meeting::Warp => "bar.warp.sync 0xffffffff;".to_owned(),
            Meeting::Cluster => "barrier.cluster.arrive;\nbarrier.cluster.wait;".to_owned(),
            Meeting::Remote => {
                let mut text = "mov.u32 %t0, crowd;\n".to_owned();
                for rank in 0..self.program.cluster {
                    text += &format!("mapa.shared::cluster.u32 %t1, %t0, {rank};\n");
                    text += "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t1];\n";
                }
                let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [crowd], %beat;";
                format!("{text}L{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %beat, %beat, 1;")
            }
            Meeting::Parity | Meeting::State => {
                format!("{arrive}\nL{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %phase, %phase, 1;")
            }
        });
    }

    pub(super) fn together(&mut self, what: Collective, to: u8, from: u8, lanes: u32) {
        let mask = format!("{:#x}", u32::MAX >> (32 - lanes));
        let text = match what {
            Collective::Shuffle(mode, b, c, p) => {
                let mode = match mode {
                    Mode::Idx => "idx",
                    Mode::Up => "up",
                    Mode::Down => "down",
                    Mode::Bfly => "bfly",
                };
                format!("shfl.sync.{mode}.b32 %r{to}|%p{p}, %r{from}, {}, {c}, {mask};", source(Class::R, b))
            }
            Collective::Ballot(p) => format!("vote.sync.ballot.b32 %r{to}, %p{p}, {mask};"),
            Collective::Any(p) => format!("vote.sync.any.pred %p{to}, %p{p}, {mask};"),
            Collective::All(p) => format!("vote.sync.all.pred %p{to}, %p{p}, {mask};"),
            Collective::Match => format!("match.any.sync.b32 %r{to}, %r{from}, {mask};"),
            Collective::Add => format!("redux.sync.add.u32 %r{to}, %r{from}, {mask};"),
            Collective::Min => format!("redux.sync.min.s32 %r{to}, %r{from}, {mask};"),
            Collective::Xor => format!("redux.sync.xor.b32 %r{to}, %r{from}, {mask};"),
        };
        self.line(&text);
    }
}
