//! The description of a kernel. The macro emits it as constants; a module that is loaded at run time owns what it borrows.

use super::Origins;
use crate::fault::At;
use crate::fault::lists::with_ranges;
use ptx_dsl_isa::constant::{Const, Cut};
use std::borrow::Cow;

/// Constants of a kernel, for the launch.
#[derive(Debug)]
pub struct KernelInfo<'k> {
    /// Name of the `.entry`.
    pub name: &'k str,
    /// The file the kernel is written in: Rust, or PTX.
    pub file: &'k str,
    /// Kernel parameters in order.
    pub params: &'k [ParamInfo<'k>],
    /// Static shared memory in bytes, a multiple of 16.
    pub shared_size: u32,
    /// The number of these bytes that lie after the last variable, before dynamic shared memory.
    pub shared_padding: u32,
    /// Local memory in bytes per thread.
    pub local_size: u32,
    /// Initial bytes of the `.const` variables.
    pub const_image: &'k [u8],
    /// Initial bytes of the module's `.global` variables.
    pub global_image: &'k [u8],
    /// `.reqntid`
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`
    pub maxntid: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub maxclusterrank: Option<u32>,
    /// The kernel reaches a variable of `.extern .shared`.
    pub uses_dynamic_shared: bool,
    /// Whether the kernel calls `malloc` or `free`.
    pub heap: bool,
    /// Whether the kernel reads `%envreg1` or `%envreg2`, where `grid.sync()` finds the memory of a cooperative launch.
    pub cooperative: bool,
    /// Whether the kernel reads `%reserved_smem_offset_1` or a similar register, where cooperative groups find memory for tiles of
    /// several warps.
    pub reserved_shared: bool,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// Registers of a thread when the kernel starts, as `setmaxnreg` needs to know; 0 if the directives do not say.
    pub registers: u32,
    /// `.target`
    pub target: &'k str,
    /// The source is a file of PTX, of which sites have the lines.
    pub of_file: bool,
    /// The text of the source, if the module was loaded at run time; else empty.
    pub source: &'k str,
    /// The PTX statements, by number.
    pub sites: &'k [Site<'k>],
    /// The places that `.loc` gives them, and those of pieces and their uses.
    pub origins: Origins<'k>,
    /// Values of expressions over Rust constants. Texts of statements have marks for them.
    pub values: &'k [Const],
    /// Instructions that the host cannot run, with their sites: a launch is an error that names the first.
    pub not_yet: &'k [NotYet<'k>],
    /// The code for the interpreter: an encoded image. Empty if there is none.
    pub image: &'k [u8],
}

/// Something in a kernel that the host cannot run.
#[derive(Debug, Clone, Copy)]
pub struct NotYet<'k> {
    /// An instruction, mostly.
    pub what: &'k str,
    /// The reason.
    pub why: &'k str,
    /// Number of the statement.
    pub site: u32,
}

impl KernelInfo<'_> {
    /// A statement, with its place in the PTX text and in the source. `None` if the kernel has no such statement.
    pub fn at(&self, site: u32) -> Option<At> {
        let s = self.sites.get(site as usize)?;
        Some(At {
            text: with_ranges(self.text(s)).into_owned(),
            line: s.line,
            file: self.file.to_owned(),
            rust_line: s.rust_line,
            of_file: self.of_file,
            origin: self.origins.of(s.origin),
        })
    }

    /// The text of a statement of the kernel, with the values of Rust constants.
    pub fn text<'s>(&self, site: &Site<'s>) -> Cow<'s, str> {
        let cut = Cut::new(site.text);
        if cut.cuts.is_empty() {
            return Cow::Borrowed(site.text);
        }
        Cow::Owned(cut.filled(self.values))
    }
}

#[cfg(test)]
impl KernelInfo<'static> {
    /// A kernel with nothing.
    pub const NONE: Self = KernelInfo {
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
        origins: Origins::NONE,
        registers: 0,
        values: &[],
        not_yet: &[],
        image: &[],
    };
}

/// A kernel parameter.
#[derive(Debug)]
pub struct ParamInfo<'k> {
    /// The name in the declaration.
    pub name: &'k str,
    /// The offset in parameter memory.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The alignment in bytes.
    pub align: u32,
    /// `.ptr` with the alignment it promises.
    pub pointer: Option<u32>,
    /// Declared with a Rust type `&[T]`.
    pub read_only: bool,
}

/// A PTX statement.
#[derive(Debug, Clone, Copy)]
pub struct Site<'k> {
    /// The statement as printed; with Rust constants, [`KernelInfo::text`] has their values.
    pub text: &'k str,
    /// Line in the PTX: of the file, if the module is one ([`KernelInfo::of_file`]); else of the printed PTX.
    pub line: u32,
    /// Line in the kernel's file, 0 if unknown.
    pub rust_line: u32,
    /// The number of its place in [`KernelInfo::origins`] from 1, 0 if it has none but these lines. [`KernelInfo::at`] has it in words.
    pub origin: u32,
    /// The bytes of a load that the program uses, a bit each, if it says so (`.pragma "used_bytes_mask"`).
    pub used_bytes: Option<u32>,
}
