//! Qualifiers and types of an instruction, as the emitted code hands them to its semantics: constants that fold away.

/// A qualifier, by number. The constants are in [`q`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag(u16);

/// Words of the set of qualifiers.
const WORDS: usize = q::NAMES.len().div_ceil(64);

/// An instruction's qualifiers, as written, and its types, in the order written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qualifiers {
    flags: [u64; WORDS],
    /// The types, in the order written; `Ty::None` after the last.
    pub ty: [Ty; 4],
}

impl Qualifiers {
    /// From the qualifiers and types written. More than four types are not kept.
    pub const fn new(flags: &[Flag], ty: &[Ty]) -> Qualifiers {
        let mut q = Qualifiers { flags: [0; WORDS], ty: [Ty::None; 4] };
        let mut i = 0;
        while i < flags.len() {
            q.flags[flags[i].0 as usize / 64] |= 1 << (flags[i].0 % 64);
            i += 1;
        }
        i = 0;
        while i < ty.len() && i < 4 {
            q.ty[i] = ty[i];
            i += 1;
        }
        q
    }
}

/// The qualifiers of an instruction. A reference to a constant: what is read through it folds away at any level of optimisation,
/// while a copy does not where it is passed on to a function that is not inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Q(&'static Qualifiers);

impl Q {
    /// Those of a constant.
    #[inline(always)]
    pub const fn of(qualifiers: &'static Qualifiers) -> Q {
        Q(qualifiers)
    }

    /// From the qualifiers and types written.
    #[cfg(test)]
    pub fn new(flags: &[Flag], ty: &[Ty]) -> Q {
        Q(Box::leak(Box::new(Qualifiers::new(flags, ty))))
    }

    /// [`Qualifiers::ty`], for constant functions.
    #[inline(always)]
    pub const fn types(self) -> [Ty; 4] {
        self.0.ty
    }

    /// Is the qualifier written?
    #[inline(always)]
    pub const fn has(self, flag: Flag) -> bool {
        self.0.flags[flag.0 as usize / 64] >> (flag.0 % 64) & 1 != 0
    }
}

impl std::ops::Deref for Q {
    type Target = Qualifiers;

    #[inline(always)]
    fn deref(&self) -> &Qualifiers {
        self.0
    }
}

/// A type of PTX; the variants are named as in the front end, plus `None` for "no type here".
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ty {
    #[default]
    None,
    Pred,
    B8, B16, B32, B64, B128, B1024,
    U8, U16, U32, U64,
    S8, S16, S32, S64,
    F16, F32, F64, Bf16, Tf32,
    F16x2, Bf16x2, F32x2,
    U16x2, S16x2, U8x4, S8x4,
    E4m3x2, E5m2x2, E2m1x2, E2m3x2, E3m2x2, Ue8m0x2, Ue5m3x2, S2f6x2,
    E4m3x4, E5m2x4, E2m1x4, E2m3x4, E3m2x4, E2m1p4x4, Ue8m0x4,
    Texref, Samplerref, Surfref,
}

impl Ty {
    /// Width in bits; a predicate has one, no type has none.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match self {
            Ty::None => 0,
            Ty::Pred => 1,
            Ty::B8 | Ty::U8 | Ty::S8 | Ty::E2m1x2 => 8,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::Bf16 => 16,
            Ty::E4m3x2 | Ty::E5m2x2 | Ty::E2m3x2 | Ty::E3m2x2 | Ty::Ue8m0x2 => 16,
            Ty::Ue5m3x2 | Ty::S2f6x2 | Ty::E2m1x4 => 16,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 | Ty::Tf32 | Ty::F16x2 | Ty::Bf16x2 => 32,
            Ty::U16x2 | Ty::S16x2 | Ty::U8x4 | Ty::S8x4 => 32,
            Ty::E4m3x4 | Ty::E5m2x4 | Ty::E2m3x4 | Ty::E3m2x4 | Ty::E2m1p4x4 | Ty::Ue8m0x4 => 32,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 | Ty::F32x2 | Ty::Texref | Ty::Samplerref | Ty::Surfref => 64,
            Ty::B128 => 128,
            Ty::B1024 => 1024,
        }
    }

    /// Width in bytes, at least one.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        if self.bits() < 8 { 1 } else { self.bits() / 8 }
    }

    /// `.s8` to `.s64` (not the packed ones).
    #[inline(always)]
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// `.f16` to `.f64`, `.bf16`, `.tf32` (not the packed ones).
    #[inline(always)]
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64 | Ty::Bf16 | Ty::Tf32)
    }
}

macro_rules! flags {
    ($($name:ident $text:literal,)*) => {
        #[allow(non_camel_case_types)]
        enum Number { $($name,)* }
        $(#[doc = concat!("`", $text, "`")] pub const $name: Flag = Flag(Number::$name as u16);)*
        /// Every qualifier as PTX writes it, and the name of its constant.
        pub const NAMES: &[(&str, &str)] = &[$(($text, stringify!($name)),)*];
    };
}

/// One constant per qualifier: its name without the dot, `::` as `_`, a leading `_` before keywords and digits.
/// `param_entry` and `param_func` also tell `ld` and `st` which `.param` space a plain `.param` means, and `a_tmem`, which no
/// PTX has, tells `tcgen05.mma` that its operand A is an address in Tensor Memory, `state` tells an arrival that its state is kept.
#[allow(non_upper_case_globals)]
#[rustfmt::skip]
pub mod q {
    use super::Flag;
    flags! {
        _128x128b ".128x128b", _128x256b ".128x256b", _16x128b ".16x128b", _16x256b ".16x256b", _16x32bx2 ".16x32bx2",
        _16x64b ".16x64b", _1d ".1d", _2d ".2d", _2dms ".2dms", _32x128b ".32x128b", _32x32b ".32x32b", _3d ".3d",
        _4d ".4d", _4x256b ".4x256b", _5d ".5d", _64x128b ".64x128b", L1 ".L1", L1_32B ".L1::32B",
        L1_evict_first ".L1::evict_first", L1_evict_last ".L1::evict_last", L1_evict_normal ".L1::evict_normal",
        L1_evict_unchanged ".L1::evict_unchanged", L1_no_allocate ".L1::no_allocate", L2 ".L2", L2_128B ".L2::128B",
        L2_256B ".L2::256B", L2_64B ".L2::64B", L2_cache_hint ".L2::cache_hint", L2_evict_first ".L2::evict_first",
        L2_evict_last ".L2::evict_last", L2_evict_normal ".L2::evict_normal",
        L2_evict_unchanged ".L2::evict_unchanged", NaN ".NaN", a1d ".a1d", a2d ".a2d", a2dms ".a2dms", a_tmem ".a_tmem", abs ".abs",
        acc_f16 ".acc::f16", acc_f32 ".acc::f32", acq_rel ".acq_rel", acquire ".acquire", acube ".acube", add ".add",
        addr_mode_0 ".addr_mode_0", alias ".alias", aligned ".aligned", all ".all", alloc ".alloc", and ".and",
        any ".any", approx ".approx", array_size ".array_size", arrive ".arrive", arrive_drop ".arrive_drop",
        ashift ".ashift", _async ".async", async_generic ".async::generic", async_global ".async::global",
        async_shared_cluster ".async::shared::cluster", async_shared_cta ".async::shared::cta", b ".b", b0 ".b0",
        b1 ".b1", b10 ".b10", b2 ".b2", b20 ".b20", b21 ".b21", b210 ".b210", b3 ".b3", b30 ".b30", b31 ".b31",
        b310 ".b310", b320 ".b320", b321 ".b321", b3210 ".b3210", b4 ".b4", b4e ".b4e", b4x16_p64 ".b4x16_p64",
        b6x16_p32 ".b6x16_p32", b8x16 ".b8x16", ballot ".ballot", base ".base", bfly ".bfly", block16 ".block16",
        block32 ".block32", block_scale ".block_scale", box_dim ".box_dim", bulk ".bulk", bulk_group ".bulk_group",
        ca ".ca", cas ".cas", cc ".cc", cg ".cg", channel_data_type ".channel_data_type",
        channel_order ".channel_order", check_layout ".check_layout", clamp ".clamp", cluster ".cluster", col ".col",
        commit ".commit", commit_group ".commit_group",
        complete_tx ".complete_tx", _const ".const", counted_bytes ".counted::bytes", cp ".cp",
        cp_fenceproxy ".cp_fenceproxy", cp_mask ".cp_mask", cs ".cs", cta ".cta", cta_group_1 ".cta_group::1",
        cta_group_2 ".cta_group::2", cube ".cube", cv ".cv", cvt ".cvt", dealloc ".dealloc", dec ".dec",
        decompress_lut_b ".decompress::lut::b", depth ".depth", down ".down", e2m1 ".e2m1", e2m3 ".e2m3",
        e3m2 ".e3m2", e4m3 ".e4m3", e5m2 ".e5m2", ecl ".ecl", ecr ".ecr", element_stride ".element_stride",
        elemtype ".elemtype", eq ".eq", equ ".equ", exch ".exch", exclusive ".exclusive", expect_tx ".expect_tx",
        f4e ".f4e", fabric ".fabric", fabric_fabric ".fabric::fabric", fabric_generic ".fabric::generic",
        fence ".fence", fill_mode ".fill_mode", filter_mode ".filter_mode",
        finite ".finite", force_unnormalized_coords ".force_unnormalized_coords", fractional ".fractional",
        ftz ".ftz", full ".full", ge ".ge", generic_fabric ".generic::fabric", get_first_ctaid ".get_first_ctaid",
        get_first_ctaid_x ".get_first_ctaid::x", get_first_ctaid_y ".get_first_ctaid::y",
        get_first_ctaid_z ".get_first_ctaid::z", geu ".geu", gl ".gl", global ".global",
        global_address ".global_address", global_dim ".global_dim", global_stride ".global_stride", gpu ".gpu",
        gt ".gt", gtu ".gtu", h0 ".h0", h1 ".h1", h10 ".h10", height ".height", hi ".hi", hs ".hs", hxy ".hxy",
        idx ".idx", ignore_oob ".ignore_oob", im2col ".im2col", im2col_w ".im2col::w", im2col_w_128 ".im2col::w::128",
        im2col_no_offs ".im2col_no_offs", im2col_no_offs_w ".im2col_no_offs::w", inc ".inc", infinite ".infinite",
        init ".init", interleave_layout ".interleave_layout", inval ".inval", is_canceled ".is_canceled",
        kind_f16 ".kind::f16", kind_f8f6f4 ".kind::f8f6f4", kind_i8 ".kind::i8", kind_mxf4 ".kind::mxf4",
        kind_mxf4nvf4 ".kind::mxf4nvf4", kind_mxf8f6f4 ".kind::mxf8f6f4", kind_tf32 ".kind::tf32",
        kind_ti16 ".kind::ti16", l ".l", l2_cache_hint ".l2::cache_hint", launch_dependents ".launch_dependents",
        layout_v0 ".layout::v0", layout_v1 ".layout::v1", ld ".ld", ld_reduce ".ld_reduce", le ".le", leu ".leu",
        lo ".lo", load ".load", local ".local", ls ".ls", lt ".lt", ltu ".ltu", lu ".lu", m16n16 ".m16n16",
        m16n16k16 ".m16n16k16", m16n16k8 ".m16n16k8", m16n8 ".m16n8", m16n8k128 ".m16n8k128", m16n8k16 ".m16n8k16",
        m16n8k256 ".m16n8k256", m16n8k32 ".m16n8k32", m16n8k4 ".m16n8k4", m16n8k64 ".m16n8k64", m16n8k8 ".m16n8k8",
        m32n8k16 ".m32n8k16", m64n104k16 ".m64n104k16", m64n104k32 ".m64n104k32", m64n104k64 ".m64n104k64",
        m64n104k8 ".m64n104k8", m64n112k16 ".m64n112k16", m64n112k256 ".m64n112k256", m64n112k32 ".m64n112k32",
        m64n112k64 ".m64n112k64", m64n112k8 ".m64n112k8", m64n120k16 ".m64n120k16", m64n120k32 ".m64n120k32",
        m64n120k64 ".m64n120k64", m64n120k8 ".m64n120k8", m64n128k16 ".m64n128k16", m64n128k256 ".m64n128k256",
        m64n128k32 ".m64n128k32", m64n128k64 ".m64n128k64", m64n128k8 ".m64n128k8", m64n136k16 ".m64n136k16",
        m64n136k32 ".m64n136k32", m64n136k64 ".m64n136k64", m64n136k8 ".m64n136k8", m64n144k16 ".m64n144k16",
        m64n144k256 ".m64n144k256", m64n144k32 ".m64n144k32", m64n144k64 ".m64n144k64", m64n144k8 ".m64n144k8",
        m64n152k16 ".m64n152k16", m64n152k32 ".m64n152k32", m64n152k64 ".m64n152k64", m64n152k8 ".m64n152k8",
        m64n160k16 ".m64n160k16", m64n160k256 ".m64n160k256", m64n160k32 ".m64n160k32", m64n160k64 ".m64n160k64",
        m64n160k8 ".m64n160k8", m64n168k16 ".m64n168k16", m64n168k32 ".m64n168k32", m64n168k64 ".m64n168k64",
        m64n168k8 ".m64n168k8", m64n16k16 ".m64n16k16", m64n16k256 ".m64n16k256", m64n16k32 ".m64n16k32",
        m64n16k64 ".m64n16k64", m64n16k8 ".m64n16k8", m64n176k16 ".m64n176k16", m64n176k256 ".m64n176k256",
        m64n176k32 ".m64n176k32", m64n176k64 ".m64n176k64", m64n176k8 ".m64n176k8", m64n184k16 ".m64n184k16",
        m64n184k32 ".m64n184k32", m64n184k64 ".m64n184k64", m64n184k8 ".m64n184k8", m64n192k16 ".m64n192k16",
        m64n192k256 ".m64n192k256", m64n192k32 ".m64n192k32", m64n192k64 ".m64n192k64", m64n192k8 ".m64n192k8",
        m64n200k16 ".m64n200k16", m64n200k32 ".m64n200k32", m64n200k64 ".m64n200k64", m64n200k8 ".m64n200k8",
        m64n208k16 ".m64n208k16", m64n208k256 ".m64n208k256", m64n208k32 ".m64n208k32", m64n208k64 ".m64n208k64",
        m64n208k8 ".m64n208k8", m64n216k16 ".m64n216k16", m64n216k32 ".m64n216k32", m64n216k64 ".m64n216k64",
        m64n216k8 ".m64n216k8", m64n224k16 ".m64n224k16", m64n224k256 ".m64n224k256", m64n224k32 ".m64n224k32",
        m64n224k64 ".m64n224k64", m64n224k8 ".m64n224k8", m64n232k16 ".m64n232k16", m64n232k32 ".m64n232k32",
        m64n232k64 ".m64n232k64", m64n232k8 ".m64n232k8", m64n240k16 ".m64n240k16", m64n240k256 ".m64n240k256",
        m64n240k32 ".m64n240k32", m64n240k64 ".m64n240k64", m64n240k8 ".m64n240k8", m64n248k16 ".m64n248k16",
        m64n248k32 ".m64n248k32", m64n248k64 ".m64n248k64", m64n248k8 ".m64n248k8", m64n24k16 ".m64n24k16",
        m64n24k256 ".m64n24k256", m64n24k32 ".m64n24k32", m64n24k64 ".m64n24k64", m64n24k8 ".m64n24k8",
        m64n256k16 ".m64n256k16", m64n256k256 ".m64n256k256", m64n256k32 ".m64n256k32", m64n256k64 ".m64n256k64",
        m64n256k8 ".m64n256k8", m64n32k16 ".m64n32k16", m64n32k256 ".m64n32k256", m64n32k32 ".m64n32k32",
        m64n32k64 ".m64n32k64", m64n32k8 ".m64n32k8", m64n40k16 ".m64n40k16", m64n40k32 ".m64n40k32",
        m64n40k64 ".m64n40k64", m64n40k8 ".m64n40k8", m64n48k16 ".m64n48k16", m64n48k256 ".m64n48k256",
        m64n48k32 ".m64n48k32", m64n48k64 ".m64n48k64", m64n48k8 ".m64n48k8", m64n56k16 ".m64n56k16",
        m64n56k32 ".m64n56k32", m64n56k64 ".m64n56k64", m64n56k8 ".m64n56k8", m64n64k16 ".m64n64k16",
        m64n64k256 ".m64n64k256", m64n64k32 ".m64n64k32", m64n64k64 ".m64n64k64", m64n64k8 ".m64n64k8",
        m64n72k16 ".m64n72k16", m64n72k32 ".m64n72k32", m64n72k64 ".m64n72k64", m64n72k8 ".m64n72k8",
        m64n80k16 ".m64n80k16", m64n80k256 ".m64n80k256", m64n80k32 ".m64n80k32", m64n80k64 ".m64n80k64",
        m64n80k8 ".m64n80k8", m64n88k16 ".m64n88k16", m64n88k32 ".m64n88k32", m64n88k64 ".m64n88k64",
        m64n88k8 ".m64n88k8", m64n8k16 ".m64n8k16", m64n8k256 ".m64n8k256", m64n8k32 ".m64n8k32",
        m64n8k64 ".m64n8k64", m64n8k8 ".m64n8k8", m64n96k16 ".m64n96k16", m64n96k256 ".m64n96k256",
        m64n96k32 ".m64n96k32", m64n96k64 ".m64n96k64", m64n96k8 ".m64n96k8", m8n16 ".m8n16", m8n32k16 ".m8n32k16",
        m8n8 ".m8n8", m8n84 ".m8n84", m8n8k128 ".m8n8k128", m8n8k16 ".m8n8k16", m8n8k32 ".m8n8k32", m8n8k4 ".m8n8k4",
        mask ".mask", max ".max", mbarrier ".mbarrier", mbarrier_arrive_one ".mbarrier::arrive::one",
        mbarrier_complete_tx_16B ".mbarrier::complete_tx::16B",
        mbarrier_complete_tx_bytes ".mbarrier::complete_tx::bytes",
        mbarrier_report_disabled ".mbarrier::report::disabled", mbarrier_report_fabric ".mbarrier::report::fabric",
        mbarrier_report_validity_per_16bytes ".mbarrier::report::validity::per_16bytes",
        mbarrier_report_validity_per_16bytes_8 ".mbarrier::report::validity::per_16bytes::8",
        mbarrier_report_validity_per_16bytes_80 ".mbarrier::report::validity::per_16bytes::80",
        mbarrier_report_validity_per_16bytes_8000 ".mbarrier::report::validity::per_16bytes::8000",
        mbarrier_report_validity_per_16bytes_80000000 ".mbarrier::report::validity::per_16bytes::80000000",
        mbarrier_report_validity_per_element_ff ".mbarrier::report::validity::per_element::ff",
        mbarrier_init ".mbarrier_init", memory_layout ".memory_layout", min ".min", mma ".mma",
        mma_async ".mma_async", mmio ".mmio", multicast ".multicast", multicast_cluster ".multicast::cluster",
        multicast_cluster_16b ".multicast::cluster::16b", multicast_cluster_32b ".multicast::cluster::32b",
        multicast_cluster_all ".multicast::cluster::all", multimem ".multimem", nan ".nan", nc ".nc", ne ".ne",
        neu ".neu", noComplete ".noComplete", noftz ".noftz", noinc ".noinc", normal ".normal",
        normalized_coords ".normalized_coords", notanumber ".notanumber", num ".num",
        num_mipmap_levels ".num_mipmap_levels", num_samples ".num_samples", number ".number", oob ".oob",
        op_restrict_fetching ".op_restrict::fetching", or ".or", override_global_address ".override::global_address",
        override_global_dim ".override::global_dim", override_global_dim_stride ".override::global_dim_stride",
        pack ".pack", pack_16b ".pack::16b", param ".param", param_entry ".param::entry", param_func ".param::func",
        parity ".parity", pending_count ".pending_count", phase_type_conditional ".phase_type::conditional",
        phase_type_primary ".phase_type::primary", popc ".popc", prefetch ".prefetch", proxy ".proxy",
        proxy_readonly ".proxy::readonly", pzo ".pzo", query_cancel ".query_cancel", r ".r", range ".range",
        rc16 ".rc16", rc8 ".rc8", read ".read", red ".red", reduce ".reduce", relaxed ".relaxed", release ".release",
        relinquish_alloc_permit ".relinquish_alloc_permit", relu ".relu", replace ".replace", rm ".rm", rmi ".rmi",
        rn ".rn", rna ".rna", rni ".rni", row ".row", rp ".rp", rpi ".rpi", rs ".rs", rz ".rz", rzi ".rzi", s2 ".s2",
        s4 ".s4", sat ".sat", satfinite ".satfinite", sc ".sc", scale_vec_1X ".scale_vec::1X",
        scale_vec_2X ".scale_vec::2X", scale_vec_4X ".scale_vec::4X", scaled_n1_ue8m0 ".scaled::n1::ue8m0",
        scaled_n2_ue8m0 ".scaled::n2::ue8m0", shared ".shared", shared_cluster ".shared::cluster",
        shared_cta ".shared::cta", shift ".shift", shiftamt ".shiftamt", shr15 ".shr15", shr7 ".shr7", sp ".sp",
        sp_1 ".sp::1", sp_2 ".sp::2", sp_4 ".sp::4", sp_ordered_metadata ".sp::ordered_metadata",
        spcompress ".spcompress", st ".st", state ".state", store ".store", submit ".submit", subnormal ".subnormal",
        swizzle_atomicity ".swizzle_atomicity", swizzle_mode ".swizzle_mode", sync ".sync",
        sync_restrict_reads ".sync_restrict::reads", sync_restrict_shared_cluster ".sync_restrict::shared::cluster",
        sync_restrict_shared_cluster_read ".sync_restrict::shared::cluster::read",
        sync_restrict_shared_cta ".sync_restrict::shared::cta",
        sync_restrict_shared_read_mma_a ".sync_restrict::shared::read::mma::a", sys ".sys", tensor ".tensor",
        tensormap ".tensormap", tensormap_fabric ".tensormap::fabric", tensormap_generic ".tensormap::generic",
        test_wait ".test_wait", tile ".tile", tile_gather4 ".tile::gather4", tile_scatter4 ".tile::scatter4",
        tiled ".tiled", to ".to", trans ".trans", trap ".trap", try_atom ".try_atom", try_cancel ".try_cancel",
        try_get ".try_get", try_pullred ".try_pullred", try_put ".try_put", try_red ".try_red", try_wait ".try_wait",
        u2 ".u2", u4 ".u4", ue4m3 ".ue4m3", ue8m0 ".ue8m0", uni ".uni", unified ".unified", unpack ".unpack",
        unpack_16b ".unpack::16b", up ".up", v2 ".v2", v4 ".v4", v8 ".v8", valid_addr ".valid_addr",
        volatile ".volatile", wait ".wait", wait_all ".wait_all",
        wait_group ".wait_group", warp ".warp", warpx2_01_23 ".warpx2::01_23", warpx2_02_13 ".warpx2::02_13",
        warpx4 ".warpx4", wb ".wb", weak ".weak", wide ".wide", width ".width", wrap ".wrap", ws ".ws", wt ".wt",
        x1 ".x1", x128 ".x128", x16 ".x16", x2 ".x2", x32 ".x32", x4 ".x4", x64 ".x64", x8 ".x8", xor ".xor",
        xorsign ".xorsign", zero ".zero", a ".a", g ".g", p ".p", po ".po", grad ".grad", level ".level",
        collector_a_fill ".collector::a::fill", collector_a_use ".collector::a::use",
        collector_a_lastuse ".collector::a::lastuse", collector_a_discard ".collector::a::discard",
        collector_b_fill ".collector::b::fill", collector_b_use ".collector::b::use",
        collector_b_lastuse ".collector::b::lastuse", collector_b_discard ".collector::b::discard",
        collector_b0_fill ".collector::b0::fill", collector_b0_use ".collector::b0::use",
        collector_b0_lastuse ".collector::b0::lastuse", collector_b0_discard ".collector::b0::discard",
        collector_b1_fill ".collector::b1::fill", collector_b1_use ".collector::b1::use",
        collector_b1_lastuse ".collector::b1::lastuse", collector_b1_discard ".collector::b1::discard",
        collector_b2_fill ".collector::b2::fill", collector_b2_use ".collector::b2::use",
        collector_b2_lastuse ".collector::b2::lastuse", collector_b2_discard ".collector::b2::discard",
        collector_b3_fill ".collector::b3::fill", collector_b3_use ".collector::b3::use",
        collector_b3_lastuse ".collector::b3::lastuse", collector_b3_discard ".collector::b3::discard",
        after_thread_sync ".after_thread_sync", before_thread_sync ".before_thread_sync",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_given() {
        const S: Q = Q::of(&const { Qualifiers::new(&[q::rn, q::ftz, q::_1d, q::zero], &[Ty::F32, Ty::U8]) });
        assert!(S.has(q::rn) && S.has(q::ftz) && S.has(q::_1d) && S.has(q::zero));
        assert!(!S.has(q::rz) && !S.has(q::sat) && !S.has(q::shared_cta));
        assert_eq!(S.ty, [Ty::F32, Ty::U8, Ty::None, Ty::None]);
    }

    #[test]
    fn names_follow_the_rule() {
        for (i, (text, name)) in q::NAMES.iter().enumerate() {
            let plain = text.trim_start_matches(['.', ':']).replace("::", "_");
            assert!(*name == plain || *name == format!("_{plain}"), "{text} {name}");
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()));
            assert!(q::NAMES[..i].iter().all(|other| other.0 != *text && other.1 != *name), "{text} twice");
        }
    }
}
