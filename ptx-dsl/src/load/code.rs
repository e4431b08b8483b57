//! The code of a loaded kernel, and what the runtime borrows for a launch.

use super::Parameter;
use crate::{Arg, Error, Launch, Report};
use ptx_dsl_frontend::hir::{self, FuncId};
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_image::{Info, Interpreted, Line, Printed, interpreted};
use ptx_dsl_runtime::device::{Device, KernelCode};
use ptx_dsl_runtime::interpreter::Executable;
use ptx_dsl_runtime::{KernelInfo, NotYet, Origins, ParamInfo, Site};
use std::sync::Arc;

/// A module with its text.
#[derive(Debug)]
pub(super) struct Source {
    /// The name of the file.
    pub name: String,
    pub text: String,
    /// The places of its tokens; the tokens themselves are dropped.
    pub lexed: Lexed,
    /// As code generation takes it.
    pub hir: hir::Module,
    /// As printed.
    pub ptx: String,
    /// As the driver of a GPU compiles it: the text of a file, so that its lines are those of the file.
    pub for_driver: Arc<str>,
    /// The line of each instruction in `ptx`.
    pub lines: Vec<u32>,
}

/// The code of a kernel.
pub(super) struct Code {
    info: Info,
    sites: Vec<ptx_dsl_image::Site>,
    origins: ptx_dsl_image::Origins,
    image: Arc<Executable>,
}

impl Code {
    pub fn new(source: &Source, entry: FuncId) -> Self {
        let lines = Lines::new(&source.text);
        let line = |span| Line::from(lines.line(source.lexed.bytes(span).start) as u32 + 1);
        let printed = Printed::new(&source.ptx, &source.lines);
        let Interpreted { info, sites, origins, image } = interpreted(&source.hir, entry, &line, &printed);
        Code { info, sites, origins, image: Arc::new(Executable::new(image)) }
    }

    pub fn launch<D: Device>(
        &self,
        source: &Source,
        parameters: &[Parameter],
        device: &D,
        launch: Launch,
        arguments: &mut [Arg<'_>],
    ) -> Result<Report, Error> {
        let Code { info, sites, origins, image } = self;
        let params = info.parameters.iter().zip(parameters).map(|(p, described)| ParamInfo {
            name: &p.name,
            offset: p.offset,
            size: p.size,
            align: p.align,
            pointer: described.pointer.as_ref().map(|pointer| pointer.align),
            read_only: described.pointer.as_ref().is_some_and(|pointer| pointer.read_only),
        });
        let sites = sites.iter().map(|s| Site {
            text: &s.text,
            line: s.source_line,
            rust_line: s.source_line,
            origin: s.origin,
            used_bytes: s.used_bytes,
        });
        let (params, sites): (Vec<_>, Vec<_>) = (params.collect(), sites.collect());
        let files: Vec<&str> = origins.files.iter().map(|name| name.as_str()).collect();
        let not_yet = info.not_yet.iter().map(|n| NotYet { what: &n.what, why: n.why, site: n.site });
        let not_yet: Vec<NotYet<'_>> = not_yet.collect();
        let info = KernelInfo {
            name: &info.name,
            file: &source.name,
            params: &params,
            shared_size: info.shared_size,
            shared_padding: info.shared_padding,
            local_size: info.local_size,
            const_image: &source.hir.const_image,
            global_image: &source.hir.global_image,
            reqntid: info.reqntid,
            maxntid: info.maxntid,
            reqnctapercluster: info.reqnctapercluster,
            maxclusterrank: info.maxclusterrank,
            uses_dynamic_shared: info.uses_dynamic_shared,
            heap: info.heap,
            cooperative: info.cooperative,
            reserved_shared: info.reserved_shared,
            explicit_cluster: info.explicit_cluster,
            registers: info.registers,
            target: &source.hir.target,
            of_file: true,
            source: &source.text,
            sites: &sites,
            origins: Origins { files: &files, places: &origins.places },
            values: &[],
            not_yet: &not_yet,
            image: &[],
        };
        device.launch_code(&KernelCode::loaded(&info, image, &source.for_driver), launch, arguments)
    }
}
