//! Opcodes as numbers, made from the table: their names, their entries, a constant for each that other crates name.

pub use crate::ids::Opcode;
use crate::ids::same;
use crate::isa::Instr;
use crate::table::{FAMILIES, SYSTEM};

/// The family number of [`SYSTEM`].
const OF_SYSTEM: u8 = u8::MAX;

/// A family of the table, or [`SYSTEM`].
fn family(number: u8) -> Option<(&'static str, &'static [Instr])> {
    if number == OF_SYSTEM { Some(SYSTEM) } else { FAMILIES.get(usize::from(number)).copied() }
}

impl Opcode {
    /// The opcode of this name. In a constant, a name that the table does not have is a compile error.
    pub const fn of(name: &str) -> Opcode {
        let mut family = 0;
        while family < FAMILIES.len() {
            let entries = FAMILIES[family].1;
            let mut entry = 0;
            while entry < entries.len() {
                if same(entries[entry].opcode.as_bytes(), name.as_bytes()) {
                    return Opcode { family: family as u8, entry: entry as u8 };
                }
                entry += 1;
            }
            family += 1;
        }
        let mut entry = 0;
        while entry < SYSTEM.1.len() {
            if same(SYSTEM.1[entry].opcode.as_bytes(), name.as_bytes()) {
                return Opcode { family: OF_SYSTEM, entry: entry as u8 };
            }
            entry += 1;
        }
        panic!("the table has no such opcode")
    }

    /// A number for each opcode, for bytes.
    pub fn index(self) -> usize {
        usize::from(self.family) << 8 | usize::from(self.entry)
    }

    /// The opcode of an [`Opcode::index`].
    pub fn from_index(index: usize) -> Option<Opcode> {
        let number = u8::try_from(index >> 8).ok()?;
        family(number)?.1.get(index & 0xff)?;
        Some(Opcode { family: number, entry: index as u8 })
    }

    /// As PTX writes it.
    pub fn name(self) -> &'static str {
        self.list().1[self.entry as usize].opcode
    }

    /// Its entries in the family of the first one.
    pub fn entries(self) -> impl Iterator<Item = Entry> {
        let (family, list) = self.list();
        let first = &list[self.entry as usize];
        let same = list[self.entry as usize..].iter().filter(|instr| instr.opcode == first.opcode);
        same.map(move |instr| Entry { opcode: self, family, instr })
    }

    /// The family of its first entry.
    pub fn family(self) -> &'static str {
        self.list().0
    }

    /// The family of its first entry, with its entries.
    fn list(self) -> (&'static str, &'static [Instr]) {
        family(self.family).unwrap_or(SYSTEM)
    }

    /// The function of [`SYSTEM`] of this name.
    pub fn of_function(name: &str) -> Option<Opcode> {
        let entry = SYSTEM.1.iter().position(|instr| instr.opcode == name)?;
        Some(Opcode { family: OF_SYSTEM, entry: entry as u8 })
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An entry of the table with its opcode and family.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its opcode.
    pub opcode: Opcode,
    /// The name of its family.
    pub family: &'static str,
    /// Its declaration.
    pub instr: &'static Instr,
}

/// The entries whose opcodes begin with this word (all up to a dot or `::`), in the order of the table.
pub fn entries(first: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for (f, (family, list)) in FAMILIES.iter().enumerate() {
        for (e, instr) in list.iter().enumerate() {
            let Some(rest) = instr.opcode.strip_prefix(first) else { continue };
            if rest.is_empty() || rest.starts_with(['.', ':']) {
                let known = found.iter().find(|other| other.instr.opcode == instr.opcode);
                let opcode = known.map_or(Opcode { family: f as u8, entry: e as u8 }, |other| other.opcode);
                found.push(Entry { opcode, family, instr });
            }
        }
    }
    found
}

macro_rules! opcodes {
    ($($name:ident $text:literal,)*) => {$(
        #[doc = concat!("`", $text, "`")]
        pub const $name: Opcode = Opcode::of($text);
    )*};
}

/// A constant for each opcode that other crates name: `.` as `_`.
#[allow(non_upper_case_globals)]
#[rustfmt::skip]
pub mod op {
    use super::Opcode;

    opcodes! {
        activemask "activemask", add "add", and "and", atom "atom", bar_cta_red "bar.cta.red", bar_red "bar.red",
        bar_warp_sync "bar.warp.sync", barrier_cluster_arrive "barrier.cluster.arrive",
        barrier_cluster_wait "barrier.cluster.wait", barrier_cta_red "barrier.cta.red", barrier_red "barrier.red",
        bfe "bfe", bfi "bfi", bra "bra", brkpt "brkpt", brx_idx "brx.idx", call "call",
        clusterlaunchcontrol_query_cancel "clusterlaunchcontrol.query_cancel",
        clusterlaunchcontrol_try_cancel "clusterlaunchcontrol.try_cancel", clz "clz", cp_async "cp.async",
        cp_async_bulk_wait_group "cp.async.bulk.wait_group", cp_async_mbarrier_arrive "cp.async.mbarrier.arrive",
        cvt "cvt", cvta "cvta", div "div", elect_sync "elect.sync", exit "exit", fence "fence", fma "fma",
        getctarank "getctarank", griddepcontrol "griddepcontrol", isspacep "isspacep", istypep "istypep", ld "ld",
        ldu "ldu", mad "mad", mad24 "mad24", mapa "mapa", match_ "match", max "max", mbarrier_arrive "mbarrier.arrive",
        mbarrier_arrive_drop "mbarrier.arrive_drop", mbarrier_complete_tx "mbarrier.complete_tx",
        mbarrier_init "mbarrier.init", mbarrier_pending_count "mbarrier.pending_count",
        mbarrier_test_wait "mbarrier.test_wait", mbarrier_try_wait "mbarrier.try_wait", min "min", mma "mma",
        mma_sp "mma.sp", mov "mov", mul "mul", mul24 "mul24", multimem_ld_reduce "multimem.ld_reduce",
        multimem_st "multimem.st", nanosleep "nanosleep", neg "neg", not "not", or "or", popc "popc",
        prefetchu "prefetchu", prmt "prmt", red "red", redux_sync "redux.sync", rem "rem", ret "ret", selp "selp",
        set "set", setmaxnreg "setmaxnreg", setp "setp", shf "shf", shfl "shfl", shfl_sync "shfl.sync", shl "shl",
        shr "shr", st "st", st_async "st.async", st_bulk "st.bulk", stackrestore "stackrestore", stacksave "stacksave",
        sub "sub", suld_b "suld.b", sust_b "sust.b",
        sust_p "sust.p", tcgen05_alloc "tcgen05.alloc", tcgen05_commit "tcgen05.commit",
        tcgen05_dealloc "tcgen05.dealloc", tcgen05_ld_red "tcgen05.ld.red",
        tcgen05_relinquish_alloc_permit "tcgen05.relinquish_alloc_permit",
        tensormap_cp_fenceproxy "tensormap.cp_fenceproxy", tensormap_replace "tensormap.replace", tex "tex",
        tex_base "tex.base", tex_grad "tex.grad", tex_level "tex.level", tld4 "tld4", trap "trap", txq "txq",
        txq_level "txq.level", vote "vote", vote_sync "vote.sync", wgmma_commit_group "wgmma.commit_group",
        wgmma_fence "wgmma.fence", wgmma_mma_async "wgmma.mma_async", wgmma_mma_async_sp "wgmma.mma_async.sp",
        wgmma_wait_group "wgmma.wait_group", wmma_store_d "wmma.store.d", xor "xor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_the_opcode_of_its_name() {
        for (_, list) in FAMILIES {
            assert!(list.len() <= 256 && FAMILIES.len() < OF_SYSTEM.into());
            for instr in *list {
                let first = instr.opcode.split(['.', ':']).next().unwrap();
                let entry = *entries(first).iter().find(|entry| std::ptr::eq(entry.instr, instr)).unwrap();
                assert_eq!((entry.opcode, entry.opcode.name()), (Opcode::of(instr.opcode), instr.opcode));
            }
        }
        assert!(entries("mbarrie").is_empty());
        for instr in SYSTEM.1 {
            let opcode = Opcode::of(instr.opcode);
            assert_eq!((opcode.name(), Some(opcode)), (instr.opcode, Opcode::from_index(opcode.index())));
            assert!(entries(instr.opcode).is_empty(), "no statement has the opcode `{opcode}`");
        }
    }
}
