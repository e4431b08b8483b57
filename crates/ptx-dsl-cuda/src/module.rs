//! Modules on a device: loaded once for each context, from any thread.

use crate::calls::Called;
use crate::checks;
use crate::cubin::Cubin;
use crate::error::{GpuError, JitLine};
use crate::gpu::{Gpu, Properties};
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as Attribute, CUjit_option as Jit, CUmodule};
use ptx_dsl_runtime::KernelInfo;
use ptx_dsl_runtime::device::KernelCode;
use rustc_hash::FxHashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The modules of a context.
#[derive(Default)]
pub(crate) struct Modules {
    /// By the address of the text.
    loaded: RwLock<FxHashMap<usize, Module>>,
}

struct Module {
    handle: CUmodule,
    /// Whether it is machine code of the program, which the driver has not compiled.
    is_cubin: bool,
    functions: FxHashMap<String, Arc<Function>>,
    /// Keeps the address of the text in use.
    _text: Option<Arc<str>>,
}

// SAFETY: the driver's functions take these handles from any thread.
unsafe impl Send for Module {}
// SAFETY: as for `Send`.
unsafe impl Sync for Module {}

/// A kernel on a device.
pub(crate) struct Function {
    pub handle: CUfunction,
    pub is_cubin: bool,
    pub registers: u32,
    pub local: u32,
    pub shared: u32,
    pub threads: u32,
    /// Dynamic shared memory that the driver allows now.
    dynamic: AtomicU32,
    non_portable: AtomicBool,
}

// SAFETY: the driver's functions take these handles from any thread.
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

impl Modules {
    /// The kernel, of a module that is loaded if it is not yet. The context is current.
    pub fn function(&self, code: &KernelCode<'_>, gpu: &Gpu) -> Result<Arc<Function>, GpuError> {
        let name = code.name();
        let key = code.ptx().as_ptr().addr();
        {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(function) = loaded.get(&key).and_then(|module| module.functions.get(name)) {
                return Ok(function.clone());
            }
        }
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let module = match loaded.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let of_cubin = gpu.cubin(code.ptx()).and_then(|cubin| load_cubin(cubin).ok());
                let is_cubin = of_cubin.is_some();
                let handle = match of_cubin {
                    Some(handle) => handle,
                    None => compiled(code, gpu.properties())?,
                };
                let text = code.shared_ptx().cloned();
                entry.insert(Module { handle, is_cubin, functions: FxHashMap::default(), _text: text })
            }
        };
        if let Some(function) = module.functions.get(name) {
            return Ok(function.clone());
        }
        let function = Arc::new(Function::new(module, name)?);
        module.functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }

    /// Unloads all modules. The context is current.
    pub fn unload(&self) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in loaded.drain() {
            // SAFETY: the handle is that of a loaded module, which nothing uses any more: launches have ended.
            let _ = unsafe { result::module::unload(module.handle) };
        }
    }
}

/// Bytes of each log of the driver's compiler.
const LOG: usize = 16 * 1024;

/// Loads machine code. The context is current.
fn load_cubin(cubin: Cubin) -> Result<CUmodule, GpuError> {
    if !cubin.is_whole() {
        return Err(GpuError::Jit { lines: Vec::new(), log: "the machine code is no whole ELF file".to_owned() });
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: the driver reads what the header and the sections of the file name, which is all there.
    unsafe { sys::cuModuleLoadData(&mut module, cubin.code().as_ptr().cast()) }.of("cuModuleLoadData")?;
    Ok(module)
}

/// Checks a module against the device, and lets the driver compile it. The context is current.
fn compiled(code: &KernelCode<'_>, properties: &Properties) -> Result<CUmodule, GpuError> {
    checks::target(code.info().target, properties.capability)?;
    checks::version(code.ptx(), properties.cuda)?;
    load(code)
}

/// Lets the driver compile a module. The context is current.
fn load(code: &KernelCode<'_>) -> Result<CUmodule, GpuError> {
    let image = CString::new(code.ptx())
        .map_err(|_| GpuError::Jit { lines: Vec::new(), log: "the text has a zero byte".to_owned() })?;
    let mut errors = vec![0u8; LOG];
    let mut options =
        [Jit::CU_JIT_ERROR_LOG_BUFFER, Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, Jit::CU_JIT_GENERATE_LINE_INFO];
    let mut values = [
        errors.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(LOG),
        std::ptr::without_provenance_mut(1),
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with a zero, the lists have as many options as is said, and the log has the size that is said.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let log = String::from_utf8_lossy(&errors).trim_end_matches('\0').to_owned();
    match result.of("cuModuleLoadDataEx") {
        Ok(()) => Ok(module),
        Err(error) if log.is_empty() => Err(error),
        Err(_) => Err(GpuError::Jit {
            lines: lines(&|line| source_line(code.info(), code.shared_ptx().is_some(), line), &log),
            log,
        }),
    }
}

/// The line of the kernel's source for a line of the text that the driver has.
fn source_line(info: &KernelInfo<'_>, is_the_file: bool, line: u32) -> Option<u32> {
    if is_the_file {
        return Some(line);
    }
    // statements of an included file know its lines, and not those of the printed text
    let site = info.sites.iter().find(|site| site.line == line && site.rust_line != 0 && !info.of_file);
    site.map(|site| site.rust_line)
}

/// The lines of a log that name a line of the PTX: `ptxas application ptx input, line 12; error   : ...`.
fn lines(source: &dyn Fn(u32) -> Option<u32>, log: &str) -> Vec<JitLine> {
    let one = |text: &str| {
        let (number, message) = text.split_once("line ")?.1.split_once(';')?;
        let line = number.trim().parse().ok()?;
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ").replace(" : ", ": ");
        Some(JitLine { line, source: source(line), message })
    };
    log.lines().filter_map(one).collect()
}

impl Function {
    fn new(module: &Module, name: &str) -> Result<Self, GpuError> {
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        let handle = unsafe { result::module::get_function(module.handle, c_name) }.of("cuModuleGetFunction")?;
        let attribute = |attribute| {
            // SAFETY: the handle is that of a function of a loaded module.
            unsafe { result::function::get_function_attribute(handle, attribute) }
                .of("cuFuncGetAttribute")
                .map(|n| n as u32)
        };
        Ok(Function {
            handle,
            is_cubin: module.is_cubin,
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            dynamic: AtomicU32::new(attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?),
            non_portable: AtomicBool::new(false),
        })
    }

    /// Allows this much dynamic shared memory.
    pub fn allow_dynamic(&self, bytes: u32) -> Result<(), GpuError> {
        if bytes <= self.dynamic.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)?;
        self.dynamic.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Allows clusters of more than 8 CTAs.
    pub fn allow_large_clusters(&self) -> Result<(), GpuError> {
        if !self.non_portable.load(Ordering::Relaxed) {
            self.set(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
            self.non_portable.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn set(&self, attribute: Attribute, value: i32) -> Result<(), GpuError> {
        // SAFETY: the handle is that of a function of a loaded module.
        unsafe { result::function::set_function_attribute(self.handle, attribute, value) }.of("cuFuncSetAttribute")
    }
}

/// What the driver made of a kernel, and how much of a multiprocessor it can fill. From [`Gpu::prepare`](crate::Gpu::prepare).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// Whether it is machine code of the program ([`Cubin`]), which the driver has not compiled.
    pub is_cubin: bool,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: spilled registers, and variables in `.local`.
    pub local: u32,
    /// Bytes of static and dynamic shared memory of a CTA.
    pub shared: u32,
    /// CTAs of this launch that a multiprocessor can run at a time.
    pub ctas_per_multiprocessor: u32,
    /// Warps of these CTAs.
    pub warps: u32,
    /// Warps that a multiprocessor can run.
    pub most_warps: u32,
    /// What a multiprocessor runs out of.
    pub limited_by: LimitedBy,
}

/// What limits the number of CTAs on a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedBy {
    /// The register file
    Registers,
    /// Shared memory
    Shared,
    /// Warps
    Warps,
    /// The number of CTAs
    Ctas,
}

impl fmt::Display for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prepared { registers, local, shared, ctas_per_multiprocessor, warps, most_warps, limited_by, .. } = self;
        let by = match limited_by {
            LimitedBy::Registers => "registers",
            LimitedBy::Shared => "shared memory",
            LimitedBy::Warps => "warps",
            LimitedBy::Ctas => "the number of CTAs",
        };
        write!(
            f,
            "{registers} registers and {local} bytes of local memory a thread, {shared} bytes of shared memory a CTA; \
             {ctas_per_multiprocessor} CTAs ({warps} of {most_warps} warps) a multiprocessor, limited by {by}"
        )
    }
}

impl Prepared {
    /// For CTAs of this many threads with this much dynamic shared memory. The context is current.
    pub(crate) fn of(
        function: &Function,
        threads: u32,
        dynamic: u32,
        properties: &Properties,
    ) -> Result<Self, GpuError> {
        // SAFETY: the handle is that of a function of a loaded module.
        let ctas = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(function.handle, threads as i32, dynamic as usize)
        }
        .of("cuOccupancyMaxActiveBlocksPerMultiprocessor")? as u32;
        let warps_of_cta = threads.div_ceil(32).max(1);
        let shared = function.shared + dynamic;
        // the allocation of registers is in units of 256 for each warp
        let registers_of_cta = (function.registers * 32).next_multiple_of(256) * warps_of_cta;
        let fits = |all: u32, one: u32| all.checked_div(one).unwrap_or(u32::MAX);
        let limits = [
            (fits(properties.registers_of_multiprocessor, registers_of_cta), LimitedBy::Registers),
            (fits(properties.shared_of_multiprocessor, shared + 1024), LimitedBy::Shared),
            (fits(properties.threads_of_multiprocessor / 32, warps_of_cta), LimitedBy::Warps),
            (properties.ctas_of_multiprocessor, LimitedBy::Ctas),
        ];
        let (_, limited_by) = limits.into_iter().min_by_key(|(ctas, _)| *ctas).unwrap_or((0, LimitedBy::Ctas));
        Ok(Prepared {
            is_cubin: function.is_cubin,
            registers: function.registers,
            local: function.local,
            shared,
            ctas_per_multiprocessor: ctas,
            warps: ctas * warps_of_cta,
            most_warps: properties.threads_of_multiprocessor / 32,
            limited_by,
        })
    }
}

/// A kernel with nothing.
pub(crate) const EMPTY: KernelInfo<'static> = KernelInfo {
    name: "none",
    file: "none.rs",
    params: &[],
    shared_size: 0,
    shared_padding: 0,
    local_size: 0,
    const_image: &[],
    global_image: &[],
    reqntid: None,
    maxntid: None,
    reqnctapercluster: None,
    maxclusterrank: None,
    uses_dynamic_shared: false,
    heap: false,
    cooperative: false,
    reserved_shared: false,
    explicit_cluster: false,
    target: "sm_90",
    of_file: false,
    source: "",
    sites: &[],
    origins: ptx_dsl_runtime::Origins::NONE,
    registers: 0,
    values: &[],
    not_yet: &[],
    image: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_runtime::{Origins, Site};

    #[test]
    fn a_log_names_lines_of_the_source() {
        let log = "ptxas application ptx input, line 12; error   : Unknown symbol 'x'\nptxas fatal   : Ptx assembly aborted due to errors\n";
        let site = |line, rust_line| Site { text: "", line, rust_line, origin: 0, used_bytes: None };
        let info = KernelInfo { sites: &[site(11, 40), site(12, 41)], origins: Origins::NONE, ..EMPTY };
        let found = lines(&|line| source_line(&info, false, line), log);
        assert_eq!(found, [JitLine { line: 12, source: Some(41), message: "error: Unknown symbol 'x'".to_owned() }]);
        let error = GpuError::Jit { lines: found, log: log.to_owned() };
        assert_eq!(
            error.to_string(),
            "the driver cannot compile the module\n  line 41 (PTX line 12): error: Unknown symbol 'x'"
        );
    }
}
