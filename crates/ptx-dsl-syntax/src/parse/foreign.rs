//! Words of CUDA C++, LLVM and other assemblers with their PTX, for helps. None of them is accepted.

/// A name and its PTX.
type Row = (&'static str, &'static str);

/// Types of C and CUDA; a vector has its qualifier before the type.
const C_TYPES: &[Row] = &[
    ("int", "s32"),
    ("unsigned", "u32"),
    ("uint", "u32"),
    ("float", "f32"),
    ("double", "f64"),
    ("half", "f16"),
    ("__half", "f16"),
    ("bool", "pred"),
    ("char", "s8"),
    ("uchar", "u8"),
    ("short", "s16"),
    ("ushort", "u16"),
    ("long", "s64"),
    ("ulong", "u64"),
    ("size_t", "u64"),
    ("int8_t", "s8"),
    ("int16_t", "s16"),
    ("int32_t", "s32"),
    ("int64_t", "s64"),
    ("uint8_t", "u8"),
    ("uint16_t", "u16"),
    ("uint32_t", "u32"),
    ("uint64_t", "u64"),
    ("int2", "v2.s32"),
    ("int4", "v4.s32"),
    ("uint2", "v2.u32"),
    ("uint4", "v4.u32"),
    ("float2", "v2.f32"),
    ("float4", "v4.f32"),
    ("double2", "v2.f64"),
];

/// Types of LLVM and others.
const OTHER_TYPES: &[Row] = &[
    ("b1", "pred"),
    ("i1", "pred"),
    ("byte", "u8"),
    ("i8", "s8"),
    ("i16", "s16"),
    ("i32", "s32"),
    ("i64", "s64"),
    ("fp16", "f16"),
    ("fp32", "f32"),
    ("fp64", "f64"),
    ("f32x4", "v4.f32"),
    ("u32x4", "v4.u32"),
    ("b32x4", "v4.b32"),
];

/// State spaces.
const SPACES: &[Row] =
    &[("__shared__", ".shared"), ("__constant__", ".const"), ("__device__", ".global"), ("__local__", ".local")];

/// Instructions: an opcode, to which the written qualifiers and operands are added, or a whole statement. Of several rows with
/// one name, the first with a legal statement counts.
const INSTRUCTIONS: &[Row] = &[
    ("__syncthreads", "bar.sync 0;"),
    ("syncthreads", "bar.sync 0;"),
    ("__syncwarp", "bar.warp.sync -1;"),
    ("syncwarp", "bar.warp.sync -1;"),
    ("__threadfence", "membar.gl;"),
    ("threadfence", "membar.gl;"),
    ("__threadfence_block", "membar.cta;"),
    ("__threadfence_system", "membar.sys;"),
    ("return", "ret"),
    ("goto", "bra"),
    ("jmp", "bra"),
    ("jump", "bra"),
    ("br", "bra"),
    ("b", "bra"),
    ("lb", "ld.s8"),
    ("lb", "ld"),
    ("lbu", "ld.u8"),
    ("lh", "ld.s16"),
    ("lhu", "ld.u16"),
    ("lw", "ld.b32"),
    ("sb", "st.b8"),
    ("sh", "st.b16"),
    ("sw", "st.b32"),
    ("load", "ld"),
    ("store", "st"),
    ("ldr", "ld"),
    ("str", "st"),
    ("ldg", "ld.global.nc"),
    ("ldg", "ld.global"),
    ("__ldg", "ld.global.nc"),
    ("lds", "ld.shared"),
    ("sts", "st.shared"),
    ("stg", "st.global"),
    ("ldc", "ld.const"),
    ("atomic", "atom"),
    ("atomic", "red"),
    ("atomicAdd", "atom.add"),
    ("atomicAdd", "red.add"),
    ("atomicMin", "atom.min"),
    ("atomicMin", "red.min"),
    ("atomicMax", "atom.max"),
    ("atomicMax", "red.max"),
    ("atomicAnd", "atom.and"),
    ("atomicAnd", "red.and"),
    ("atomicOr", "atom.or"),
    ("atomicOr", "red.or"),
    ("atomicXor", "atom.xor"),
    ("atomicXor", "red.xor"),
    ("atomicInc", "atom.inc"),
    ("atomicDec", "atom.dec"),
    ("atomicExch", "atom.exch"),
    ("atomicCAS", "atom.cas"),
    ("cmp", "setp"),
    ("icmp", "setp"),
    ("fcmp", "setp"),
    ("select", "selp"),
    ("mod", "rem"),
    ("log2", "lg2"),
    ("exp2", "ex2"),
    ("fadd", "add"),
    ("fsub", "sub"),
    ("fmul", "mul"),
    ("ffma", "fma"),
    ("fdiv", "div"),
    ("iadd", "add"),
    ("imul", "mul"),
    ("imad", "mad"),
    ("sll", "shl"),
    ("srl", "shr"),
    ("sra", "shr"),
    ("sar", "shr"),
    ("lea", "mov"),
    ("ballot", "vote.sync.ballot"),
    ("__ballot_sync", "vote.sync.ballot"),
    ("__any_sync", "vote.sync.any"),
    ("__all_sync", "vote.sync.all"),
    ("__shfl_sync", "shfl.sync.idx"),
    ("__shfl_up_sync", "shfl.sync.up"),
    ("__shfl_down_sync", "shfl.sync.down"),
    ("__shfl_xor_sync", "shfl.sync.bfly"),
    ("__activemask", "activemask"),
    ("__popc", "popc"),
    ("__clz", "clz"),
    ("__brev", "brev"),
    ("__nanosleep", "nanosleep"),
    ("__trap", "trap;"),
    ("abort", "trap;"),
    ("mbarrier.wait", "mbarrier.try_wait"),
    ("barrier.cluster", "barrier.cluster.arrive; barrier.cluster.wait;"),
    ("barrier.cluster.sync", "barrier.cluster.arrive; barrier.cluster.wait;"),
    ("cluster.sync", "barrier.cluster.arrive; barrier.cluster.wait;"),
];

/// Directives: attributes of CUDA and LLVM, without what is around them.
const DIRECTIVES: &[Row] = &[
    ("cluster_dim", "reqnctapercluster"),
    ("cluster_dims", "reqnctapercluster"),
    ("cluster_size", "reqnctapercluster"),
    ("reqclusterdim", "reqnctapercluster"),
    ("launch_bounds", "maxntid"),
    ("block_size", "reqntid"),
    ("reqnthreads", "reqntid"),
    ("maxthreads", "maxntid"),
    ("maxregs", "maxnreg"),
    ("maxrregcount", "maxnreg"),
    ("unroll", "pragma"),
];

/// Operations that take several PTX instructions.
const ADVICE: &[Row] = &[
    ("exp", "`ex2` is a power of 2: multiply by 1.442695 first, the logarithm of e to base 2"),
    ("log", "`lg2` is the logarithm to base 2: multiply its result by 0.693147, the natural logarithm of 2"),
    ("ln", "`lg2` is the logarithm to base 2: multiply its result by 0.693147, the natural logarithm of 2"),
    ("pow", "`ex2` of y times `lg2` of x is x to the power of y"),
    ("tan", "divide `sin` by `cos`"),
    ("nop", "remove it: PTX has none"),
    ("assert", "branch around a `trap`"),
    ("printf", "PTX prints by calling the function vprintf, as the code of nvcc does"),
    ("inc", "add 1 with `add`"),
    ("dec", "subtract 1 with `sub`"),
    ("push", "PTX has no stack: use registers, or a `.local` variable"),
    ("pop", "PTX has no stack: use registers, or a `.local` variable"),
    ("clock", "read `%clock` with `mov`"),
    ("clock64", "read `%clock64` with `mov`"),
    ("malloc", "memory is allocated by the host program, or by calling the function malloc"),
    ("free", "memory is freed by the host program, or by calling the function free"),
];

/// Special registers: the part before the component, if there is one.
const REGISTERS: &[Row] = &[
    ("threadIdx", "%tid"),
    ("blockIdx", "%ctaid"),
    ("blockDim", "%ntid"),
    ("gridDim", "%nctaid"),
    ("clusterIdx", "%clusterid"),
    ("tid", "%tid"),
    ("ctaid", "%ctaid"),
    ("ntid", "%ntid"),
    ("nctaid", "%nctaid"),
    ("tidx", "%tid"),
    ("bid", "%ctaid"),
    ("warpSize", "WARP_SZ"),
    ("warpsize", "WARP_SZ"),
    ("laneId", "%laneid"),
    ("lane_id", "%laneid"),
    ("laneid", "%laneid"),
    ("lane", "%laneid"),
    ("warpId", "%warpid"),
    ("warp_id", "%warpid"),
    ("warpid", "%warpid"),
    ("smid", "%smid"),
    ("clock", "%clock"),
    ("clock64", "%clock64"),
];

/// Constants of C.
const CONSTANTS: &[Row] = &[("true", "1"), ("false", "0"), ("null", "0"), ("NULL", "0"), ("nullptr", "0")];

fn row(list: &[Row], name: &str) -> Option<&'static str> {
    for (foreign, own) in list {
        if *foreign == name {
            return Some(own);
        }
    }
    None
}

/// The type of PTX, without its dot: `s32`, `v4.f32`.
pub fn ty(name: &str) -> Option<&'static str> {
    c_type(name).or_else(|| row(OTHER_TYPES, name))
}

/// The same for a type that begins a C declaration.
pub(super) fn c_type(name: &str) -> Option<&'static str> {
    row(C_TYPES, name)
}

/// The state space, with its dot.
pub fn space(name: &str) -> Option<&'static str> {
    row(SPACES, name)
}

/// A special register, with its component: `threadIdx.x`, `%tidx.x`.
pub fn register(name: &str) -> Option<String> {
    let name = name.trim_start_matches('%');
    let (first, component) = match name.find('.') {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    Some(format!("{}{component}", row(REGISTERS, first)?))
}

/// A directive.
pub(super) fn directive(name: &str) -> Option<&'static str> {
    row(DIRECTIVES, name.trim_matches('_'))
}

/// A constant.
pub fn constant(name: &str) -> Option<&'static str> {
    row(CONSTANTS, name)
}

/// Candidates for the name of an instruction, best first.
pub fn instructions(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (foreign, own) in INSTRUCTIONS {
        if *foreign == name {
            found.push(*own);
        }
    }
    found
}

/// The help if PTX has no such instruction.
pub fn advice(name: &str) -> Option<&'static str> {
    row(ADVICE, name)
}

/// Is it a whole statement?
pub fn is_statement(own: &str) -> bool {
    own.ends_with(';')
}
