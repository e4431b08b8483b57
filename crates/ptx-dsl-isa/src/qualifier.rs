//! Qualifier ids: positions in the sorted list of all qualifiers in the table's syntax blocks.

use crate::ty::Ty;

/// A qualifier of an instruction: `.release`, `.shared::cta`, `.b64`, `.m64n8k16`. The constants are in [`q`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Qualifier(u16);

impl Qualifier {
    /// How many there are.
    pub const COUNT: usize = q::LIST.len();

    /// The qualifier with this text, which begins with its dot (or `::`, where it follows the opcode so). Binary search.
    pub const fn named(text: &str) -> Option<Qualifier> {
        let (mut low, mut high) = (0, q::LIST.len());
        while low < high {
            let middle = (low + high) / 2;
            match compare(q::LIST[middle].as_bytes(), text.as_bytes()) {
                0 => return Some(Qualifier(middle as u16)),
                1.. => high = middle,
                _ => low = middle + 1,
            }
        }
        None
    }

    /// The qualifier of this text without its dot.
    pub fn from_word(word: &str) -> Option<Qualifier> {
        // Those that begin with `::` have no dot, and stand after all that have one.
        let order = |text: &&str| text.strip_prefix('.').map_or(std::cmp::Ordering::Greater, |plain| plain.cmp(word));
        let dotted = q::LIST.binary_search_by(order).ok().map(|at| Qualifier(at as u16));
        dotted.or_else(|| Qualifier::named(word))
    }

    /// As [`Qualifier::named`]. In a constant, a text that the table does not have is a compile error.
    pub const fn of(text: &str) -> Qualifier {
        match Qualifier::named(text) {
            Some(qualifier) => qualifier,
            None => panic!("the table has no such qualifier"),
        }
    }

    /// Its position in the list. Kernels test qualifiers by it, so it folds away in every build of this crate.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The qualifier at this position.
    pub const fn from_index(index: usize) -> Option<Qualifier> {
        if index < q::LIST.len() { Some(Qualifier(index as u16)) } else { None }
    }

    /// As PTX writes it, with its dot.
    pub const fn text(self) -> &'static str {
        q::LIST[self.0 as usize]
    }

    /// Without its dot.
    pub fn word(self) -> &'static str {
        let text = self.text();
        text.strip_prefix('.').unwrap_or(text)
    }

    /// The name of its constant in [`q`].
    pub const fn constant(self) -> &'static str {
        q::CONSTANTS[self.0 as usize]
    }

    /// Does it follow the opcode without a dot: `::ld` of `tcgen05.wait::ld`?
    pub fn joins_opcode(self) -> bool {
        self.text().starts_with(':')
    }

    /// The type that it is, if registers can have that type.
    pub fn ty(self) -> Option<Ty> {
        Ty::from_name(self.word())
    }

    /// What follows this prefix (with its dot) in its text: `16` of `.x16` after `.x`.
    pub fn after(self, prefix: &str) -> Option<&'static str> {
        self.text().strip_prefix(prefix)
    }
}

impl std::fmt::Display for Qualifier {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

/// The order of two texts by their bytes: negative, 0 or positive. Constant functions cannot call `cmp`.
const fn compare(a: &[u8], b: &[u8]) -> i32 {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] as i32 - b[i] as i32;
        }
        i += 1;
    }
    a.len() as i32 - b.len() as i32
}

/// Shared memory, of the executing CTA or of any CTA of the cluster.
pub const SHARED: &[Qualifier] = &[q::shared, q::shared_cta, q::shared_cluster];
/// Parameters of kernels and functions.
pub const PARAM: &[Qualifier] = &[q::param, q::param_entry, q::param_func];
/// To several CTAs of the cluster.
pub const MULTICAST: &[Qualifier] =
    &[q::multicast_cluster, q::multicast_cluster_16b, q::multicast_cluster_32b, q::multicast_cluster_all];

macro_rules! qualifiers {
    ($($name:ident $text:literal,)*) => {
        #[allow(non_camel_case_types)]
        enum Number { $($name,)* }
        $(#[doc = concat!("`", $text, "`")] pub const $name: Qualifier = Qualifier(Number::$name as u16);)*
        /// Every qualifier as PTX writes it.
        pub(super) static LIST: &[&str] = &[$($text,)*];
        /// The names of the constants.
        pub(super) static CONSTANTS: &[&str] = &[$(stringify!($name),)*];
    };
}

/// A constant for each qualifier: its text without the dot, `:` as `_`, with a leading `_` before keywords and digits.
///
/// The last six are not PTX. They describe the operands to an instruction's semantics on the host: with `a_tmem`, operand A of
/// `tcgen05.mma` is an address in Tensor Memory; with `ignore_src`, `cp.async` has a predicate in place of a source size; with
/// `state`, the state of an arrival is kept. Of matrices, with `a_col` and `b_row`, A is column by column and B row by row; with
/// `reversed_types`, A has the later of two types in this list.
#[allow(non_upper_case_globals)]
#[rustfmt::skip]
pub mod q {
    use super::Qualifier;

    qualifiers! {
        _128x128b ".128x128b", _128x256b ".128x256b", _16x128b ".16x128b", _16x256b ".16x256b", _16x32bx2 ".16x32bx2",
        _16x64b ".16x64b", _1d ".1d", _2d ".2d", _2dms ".2dms", _32x128b ".32x128b", _32x32b ".32x32b", _3d ".3d",
        _4d ".4d", _4x256b ".4x256b", _5d ".5d", _64x128b ".64x128b", L1 ".L1", L1_32B ".L1::32B",
        L1_evict_first ".L1::evict_first", L1_evict_last ".L1::evict_last", L1_evict_normal ".L1::evict_normal",
        L1_evict_unchanged ".L1::evict_unchanged", L1_no_allocate ".L1::no_allocate", L2 ".L2", L2_128B ".L2::128B",
        L2_256B ".L2::256B", L2_64B ".L2::64B", L2_cache_hint ".L2::cache_hint", L2_evict_first ".L2::evict_first",
        L2_evict_last ".L2::evict_last", L2_evict_normal ".L2::evict_normal",
        L2_evict_unchanged ".L2::evict_unchanged", NaN ".NaN", a ".a", a1d ".a1d", a2d ".a2d", a2dms ".a2dms",
        abs ".abs", acc_f16 ".acc::f16", acc_f32 ".acc::f32", acq_rel ".acq_rel", acquire ".acquire", acube ".acube",
        add ".add", addr_mode_0 ".addr_mode_0", addr_mode_1 ".addr_mode_1", addr_mode_2 ".addr_mode_2",
        alias ".alias", aligned ".aligned", all ".all", and ".and", any ".any", approx ".approx",
        array_size ".array_size", ashift ".ashift", _async ".async", async_generic ".async::generic", b ".b",
        b1 ".b1", b1024 ".b1024", b128 ".b128", b16 ".b16", b2 ".b2", b32 ".b32", b4 ".b4", b4e ".b4e",
        b4x16_p64 ".b4x16_p64", b64 ".b64", b6x16_p32 ".b6x16_p32", b8 ".b8", b8x16 ".b8x16", ballot ".ballot",
        bf16 ".bf16", bf16x2 ".bf16x2", bfly ".bfly", block16 ".block16", block32 ".block32",
        block_scale ".block_scale", box_dim ".box_dim", bulk_group ".bulk_group", ca ".ca", cas ".cas", cc ".cc",
        cg ".cg", channel_data_type ".channel_data_type", channel_order ".channel_order", clamp ".clamp",
        cluster ".cluster", col ".col", collector_a_discard ".collector::a::discard",
        collector_a_fill ".collector::a::fill", collector_a_lastuse ".collector::a::lastuse",
        collector_a_use ".collector::a::use", collector_b0_discard ".collector::b0::discard",
        collector_b0_fill ".collector::b0::fill", collector_b0_lastuse ".collector::b0::lastuse",
        collector_b0_use ".collector::b0::use", collector_b1_discard ".collector::b1::discard",
        collector_b1_fill ".collector::b1::fill", collector_b1_lastuse ".collector::b1::lastuse",
        collector_b1_use ".collector::b1::use", collector_b2_discard ".collector::b2::discard",
        collector_b2_fill ".collector::b2::fill", collector_b2_lastuse ".collector::b2::lastuse",
        collector_b2_use ".collector::b2::use", collector_b3_discard ".collector::b3::discard",
        collector_b3_fill ".collector::b3::fill", collector_b3_lastuse ".collector::b3::lastuse",
        collector_b3_use ".collector::b3::use", collector_b_discard ".collector::b::discard",
        collector_b_fill ".collector::b::fill", collector_b_lastuse ".collector::b::lastuse",
        collector_b_use ".collector::b::use", commit_group ".commit_group", _const ".const",
        counted_bytes ".counted::bytes", cp_mask ".cp_mask", cs ".cs", cta ".cta", cta_group_1 ".cta_group::1",
        cta_group_2 ".cta_group::2", cube ".cube", cv ".cv", cvt ".cvt", dec ".dec",
        decompress_lut_b ".decompress::lut::b", depth ".depth", down ".down", e2m1 ".e2m1", e2m1p4x4 ".e2m1p4x4",
        e2m1x2 ".e2m1x2", e2m1x4 ".e2m1x4", e2m3 ".e2m3", e2m3x2 ".e2m3x2", e2m3x4 ".e2m3x4", e3m2 ".e3m2",
        e3m2x2 ".e3m2x2", e3m2x4 ".e3m2x4", e4m3 ".e4m3", e4m3x2 ".e4m3x2", e4m3x4 ".e4m3x4", e5m2 ".e5m2",
        e5m2x2 ".e5m2x2", e5m2x4 ".e5m2x4", ecl ".ecl", ecr ".ecr", element_stride ".element_stride",
        elemtype ".elemtype", eq ".eq", equ ".equ", exch ".exch", exclusive ".exclusive", expect_tx ".expect_tx",
        f16 ".f16", f16x2 ".f16x2", f32 ".f32", f32x2 ".f32x2", f4e ".f4e", f64 ".f64", fabric ".fabric",
        fabric_fabric ".fabric::fabric", fabric_generic ".fabric::generic", fill_mode ".fill_mode",
        filter_mode ".filter_mode", finite ".finite", force_unnormalized_coords ".force_unnormalized_coords",
        fractional ".fractional", ftz ".ftz", full ".full", g ".g", ge ".ge", generic_fabric ".generic::fabric",
        get_first_ctaid ".get_first_ctaid", get_first_ctaid_x ".get_first_ctaid::x",
        get_first_ctaid_y ".get_first_ctaid::y", get_first_ctaid_z ".get_first_ctaid::z", geu ".geu", gl ".gl",
        global ".global", global_address ".global_address", global_dim ".global_dim", global_stride ".global_stride",
        gpu ".gpu", gt ".gt", gtu ".gtu", height ".height", hi ".hi", hs ".hs", idx ".idx", ignore_oob ".ignore_oob",
        im2col ".im2col", im2col_w ".im2col::w", im2col_w_128 ".im2col::w::128", im2col_no_offs ".im2col_no_offs",
        im2col_no_offs_w ".im2col_no_offs::w", inc ".inc", infinite ".infinite",
        interleave_layout ".interleave_layout", is_canceled ".is_canceled", kind_f16 ".kind::f16",
        kind_f8f6f4 ".kind::f8f6f4", kind_i8 ".kind::i8", kind_mxf4 ".kind::mxf4", kind_mxf4nvf4 ".kind::mxf4nvf4",
        kind_mxf8f6f4 ".kind::mxf8f6f4", kind_tf32 ".kind::tf32", kind_ti16 ".kind::ti16", l ".l",
        launch_dependents ".launch_dependents", layout_v0 ".layout::v0", layout_v1 ".layout::v1", le ".le",
        leu ".leu", lo ".lo", local ".local", ls ".ls", lt ".lt", ltu ".ltu", lu ".lu", m16n16 ".m16n16",
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
        m8n8 ".m8n8", m8n8k128 ".m8n8k128", m8n8k16 ".m8n8k16", m8n8k32 ".m8n8k32", m8n8k4 ".m8n8k4", mask ".mask",
        max ".max", mbarrier_arrive_one ".mbarrier::arrive::one",
        mbarrier_complete_tx_16B ".mbarrier::complete_tx::16B",
        mbarrier_complete_tx_bytes ".mbarrier::complete_tx::bytes",
        mbarrier_report_disabled ".mbarrier::report::disabled", mbarrier_report_fabric ".mbarrier::report::fabric",
        mbarrier_report_validity_per_16bytes_8 ".mbarrier::report::validity::per_16bytes::8",
        mbarrier_report_validity_per_16bytes_80 ".mbarrier::report::validity::per_16bytes::80",
        mbarrier_report_validity_per_16bytes_8000 ".mbarrier::report::validity::per_16bytes::8000",
        mbarrier_report_validity_per_16bytes_80000000 ".mbarrier::report::validity::per_16bytes::80000000",
        mbarrier_report_validity_per_element_ff ".mbarrier::report::validity::per_element::ff",
        mbarrier_init ".mbarrier_init", memory_layout ".memory_layout", min ".min", mmio ".mmio",
        multicast_cluster ".multicast::cluster", multicast_cluster_16b ".multicast::cluster::16b",
        multicast_cluster_32b ".multicast::cluster::32b", multicast_cluster_all ".multicast::cluster::all",
        multimem ".multimem", nan ".nan", nc ".nc", ne ".ne", neu ".neu", noComplete ".noComplete", noftz ".noftz",
        noinc ".noinc", normal ".normal", normalized_coords ".normalized_coords", notanumber ".notanumber",
        num ".num", num_mipmap_levels ".num_mipmap_levels", num_samples ".num_samples", number ".number", oob ".oob",
        op_restrict_fetching ".op_restrict::fetching", or ".or", override_global_address ".override::global_address",
        override_global_dim ".override::global_dim", override_global_dim_stride ".override::global_dim_stride",
        pack_16b ".pack::16b", param ".param", param_entry ".param::entry", param_func ".param::func",
        parity ".parity", phase_type_conditional ".phase_type::conditional",
        phase_type_primary ".phase_type::primary", po ".po", popc ".popc", pred ".pred", proxy ".proxy",
        proxy_readonly ".proxy::readonly", pzo ".pzo", r ".r", range ".range", rank ".rank", rc16 ".rc16", rc8 ".rc8",
        read ".read", relaxed ".relaxed", release ".release", relu ".relu", rm ".rm", rmi ".rmi", rn ".rn",
        rna ".rna", rni ".rni", row ".row", rp ".rp", rpi ".rpi", rs ".rs", rz ".rz", rzi ".rzi", s16 ".s16",
        s16x2 ".s16x2", s2 ".s2", s2f6x2 ".s2f6x2", s32 ".s32", s4 ".s4", s64 ".s64", s8 ".s8", s8x4 ".s8x4",
        samplerref ".samplerref", sat ".sat", satfinite ".satfinite", sc ".sc", scale_vec_1X ".scale_vec::1X",
        scale_vec_2X ".scale_vec::2X", scale_vec_4X ".scale_vec::4X", scaled_n1_ue8m0 ".scaled::n1::ue8m0",
        scaled_n2_ue8m0 ".scaled::n2::ue8m0", shared ".shared", shared_cluster ".shared::cluster",
        shared_cta ".shared::cta", shiftamt ".shiftamt", shr15 ".shr15", shr7 ".shr7", sp_1_16 ".sp::1:16",
        sp_1_2 ".sp::1:2", sp_1_4 ".sp::1:4", sp_1_8 ".sp::1:8", sp_2_16 ".sp::2:16", sp_2_4 ".sp::2:4",
        sp_2_8 ".sp::2:8", sp_4_16 ".sp::4:16", sp_4_8 ".sp::4:8", spcompress ".spcompress", subnormal ".subnormal",
        surfref ".surfref", swizzle_atomicity ".swizzle_atomicity", swizzle_mode ".swizzle_mode", sync ".sync",
        sync_restrict_proxy_async ".sync_restrict::proxy::async", sync_restrict_read ".sync_restrict::read",
        sync_restrict_reads ".sync_restrict::reads", sync_restrict_shared_cluster ".sync_restrict::shared::cluster",
        sync_restrict_shared_cluster_read ".sync_restrict::shared::cluster::read",
        sync_restrict_shared_cta ".sync_restrict::shared::cta",
        sync_restrict_shared_read_mma_a ".sync_restrict::shared::read::mma::a", sys ".sys", tensormap ".tensormap",
        tensormap_generic ".tensormap::generic", texref ".texref", tf32 ".tf32", tile ".tile",
        tile_gather4 ".tile::gather4", tile_scatter4 ".tile::scatter4", to ".to", trans ".trans", trap ".trap",
        u16 ".u16", u16x2 ".u16x2", u2 ".u2", u32 ".u32", u4 ".u4", u64 ".u64", u8 ".u8", u8x4 ".u8x4",
        ue4m3 ".ue4m3", ue5m3x2 ".ue5m3x2", ue8m0 ".ue8m0", ue8m0x2 ".ue8m0x2", ue8m0x4 ".ue8m0x4", uni ".uni",
        unified ".unified", unpack_16b ".unpack::16b", up ".up", v2 ".v2", v4 ".v4", v8 ".v8",
        valid_addr ".valid_addr", volatile ".volatile", wait ".wait", warpx2_01_23 ".warpx2::01_23",
        warpx2_02_13 ".warpx2::02_13", warpx4 ".warpx4", wb ".wb", weak ".weak", wide ".wide", width ".width",
        wrap ".wrap", wt ".wt", x1 ".x1", x128 ".x128", x16 ".x16", x2 ".x2", x32 ".x32", x4 ".x4", x64 ".x64",
        x8 ".x8", xor ".xor", xorsign ".xorsign", zero ".zero", after_thread_sync "::after_thread_sync",
        before_thread_sync "::before_thread_sync", ld "::ld", ordered_metadata "::ordered_metadata", st "::st",
        a_col "a_col", a_tmem "a_tmem", b_row "b_row", ignore_src "ignore_src", reversed_types "reversed_types",
        state "state",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::syntax;
    use crate::table::FAMILIES;
    use std::collections::BTreeSet;

    /// They describe operands.
    const OF_OPERANDS: [&str; 6] = ["a_col", "a_tmem", "b_row", "ignore_src", "reversed_types", "state"];

    #[test]
    fn the_list_is_that_of_the_table() {
        let mut table: BTreeSet<String> = BTreeSet::from(OF_OPERANDS.map(str::to_string));
        for form in FAMILIES.iter().flat_map(|(_, list)| *list).flat_map(syntax::forms) {
            for word in form.slots.iter().flat_map(|slot| &slot.alts) {
                table.insert(word.to_string());
            }
        }
        assert_eq!(
            q::LIST.to_vec(),
            table.iter().collect::<Vec<_>>(),
            "sorted by bytes, nothing missing, nothing more"
        );
    }

    #[test]
    fn every_qualifier_finds_itself() {
        for (i, text) in q::LIST.iter().enumerate() {
            assert_eq!(Qualifier::of(text), Qualifier(i as u16));
            assert_eq!(Qualifier::from_word(Qualifier(i as u16).word()), Some(Qualifier(i as u16)));
            let plain = text.trim_start_matches(['.', ':']).replace("::", "_").replace(':', "_");
            let constant = Qualifier(i as u16).constant();
            assert!(constant == plain || constant == format!("_{plain}"), "{text} {constant}");
        }
        assert_eq!(Qualifier::named(".relased"), None);
    }

    #[test]
    fn types_among_them() {
        assert_eq!((q::b64.ty(), q::release.ty()), (Some(Ty::B64), None));
        assert_eq!(q::x16.after(".x"), Some("16"));
    }
}
