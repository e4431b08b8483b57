//! The shape of a launch: dimensions, ids of threads, CTAs and clusters, and the kernel's constants.

use crate::fault::At;
use crate::kernel::KernelInfo;
use crate::kernel::flow::Pc;
use crate::kernel::variables::{Variables, mbarrier, only_at};
use crate::machine::counted::is_counted;
use crate::machine::grid::{Grid, TensorRules};
use crate::machine::heap::Heap;
use crate::machine::loops::Loops;
use crate::machine::print::Print;
use crate::machine::role;
use crate::memory::address;
use crate::numerics::accumulation::Numerics;
use ptx_dsl_isa::image::{Image, Region};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The source of the names of regions.
#[derive(Debug)]
pub(crate) enum Regions {
    Compiled(&'static [&'static str]),
    Interpreted(Arc<Image>),
}

/// Bytes of reserved shared memory: those of an H100, all for cooperative groups.
const RESERVED: u32 = 288;

/// The constants of a launch.
#[derive(Debug)]
pub(crate) struct Geometry<'a> {
    pub info: &'a KernelInfo<'a>,
    /// The number of the target: 90 for `sm_90a`.
    pub target: u32,
    /// Devices that run the grid. A cluster of device `d` has the `%clusterid` of the grid, plus `d` grids in z.
    pub devices: u32,
    /// CTAs of the grid.
    pub grid: [u32; 3],
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Does the launch itself ask for clusters, of whatever size?
    pub is_cluster_launch: bool,
    /// Clusters of the grid.
    pub clusters: [u32; 3],
    /// The names of regions.
    pub regions: Regions,
    /// Threads of a CTA.
    pub threads: u32,
    /// Bytes.
    pub dynamic_shared: u32,
    /// Bytes of an element of each argument that is a buffer.
    pub elements: Vec<Option<u32>>,
    /// The destination of the output of `printf`.
    pub print: Print,
    /// The accumulation mode of matrix instructions.
    pub numerics: Numerics,
    /// The rules of the manual that `tcgen05` follows.
    pub tensor: TensorRules,
    /// Is a shuffle from a lane outside of its mask a finding, whatever becomes of the value?
    pub strict_shuffles: bool,
    /// The address of the memory of a cooperative launch, or 0.
    pub workspace: u64,
    /// The heap of `malloc`, if the kernel uses it.
    pub heap: Option<Arc<Heap>>,
    /// `%tid` of all lanes of a CTA.
    tids: Vec<[u32; 3]>,
    /// The variables that statements access, computed for the first fault that asks.
    variables: OnceLock<Variables>,
}

/// The number of a target.
fn number(target: &str) -> u32 {
    let digits = target.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| 10 * number + u32::from(digit - b'0'))
}

/// `%tid` of all lanes of a CTA.
fn tids([x, y, z]: [u32; 3]) -> Vec<[u32; 3]> {
    let mut next = [0; 3];
    let tids = (0..(x * y * z).next_multiple_of(32)).map(|_| {
        let tid = next;
        next[0] += 1;
        for axis in 0..2 {
            if next[axis] == [x, y][axis] {
                next[axis] = 0;
                next[axis + 1] += 1;
            }
        }
        tid
    });
    tids.collect()
}

impl<'a> Geometry<'a> {
    pub fn new(grid: &Grid<'a>) -> Self {
        let (info, block, cluster) = (grid.info, grid.block, grid.cluster);
        Geometry {
            info,
            target: number(info.target),
            devices: grid.devices,
            grid: grid.grid,
            block,
            cluster,
            is_cluster_launch: grid.is_cluster_launch,
            clusters: std::array::from_fn(|i| grid.grid[i] / cluster[i]),
            regions: Regions::Compiled(&[]),
            threads: block.iter().product(),
            dynamic_shared: grid.dynamic_shared,
            elements: grid.elements.clone(),
            print: grid.print.clone(),
            numerics: grid.numerics,
            tensor: grid.tensor,
            strict_shuffles: grid.strict_shuffles,
            workspace: grid.workspace,
            heap: grid.heap.clone(),
            tids: tids(block),
            variables: OnceLock::new(),
        }
    }

    /// `%tid`
    #[inline(always)]
    pub fn tid(&self, warp: u32, lane: usize) -> [u32; 3] {
        self.tids.get(warp as usize * 32 + lane).copied().unwrap_or_default()
    }

    /// CTAs of a cluster.
    #[inline(always)]
    pub fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Warps of a CTA.
    #[inline(always)]
    pub fn warps(&self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// `%cluster_ctaid` of a rank.
    pub fn ctaid_in_cluster(&self, rank: u32) -> [u32; 3] {
        let [x, y, _] = self.cluster;
        [rank % x, rank / x % y, rank / x / y]
    }

    /// `%ctaid` of a rank of the cluster with this `%clusterid`.
    pub fn ctaid(&self, clusterid: [u32; 3], rank: u32) -> [u32; 3] {
        let within = self.ctaid_in_cluster(rank);
        std::array::from_fn(|i| clusterid[i] * self.cluster[i] + within[i])
    }

    /// `%clusterid` of the `n`-th cluster of the grid. Inlined: an array returned in memory is written in parts and read whole, which
    /// waits for all earlier stores of the kernel, 50 ns for each cluster.
    #[inline(always)]
    pub fn clusterid(&self, n: u64) -> [u32; 3] {
        if self.devices > 1 {
            return self.clusterid_of_devices(n);
        }
        let [x, y, _] = self.clusters.map(u64::from);
        if n < x {
            return [n as u32, 0, 0];
        }
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }

    /// The number in the grid of the cluster with this `%clusterid`.
    pub fn cluster_number(&self, clusterid: [u32; 3]) -> u64 {
        let [x, y, _] = self.clusters.map(u64::from);
        let [i, j, k] = clusterid.map(u64::from);
        if self.devices > 1 {
            let (device, k) = (k / u64::from(self.clusters[2]), k % u64::from(self.clusters[2]));
            return (i + x * (j + y * k)) * u64::from(self.devices) + device;
        }
        i + x * (j + y * k)
    }

    /// The `n`-th cluster of all devices, which take turns, with the device as further grids in z.
    #[cold]
    fn clusterid_of_devices(&self, n: u64) -> [u32; 3] {
        let [x, y, z] = self.clusters.map(u64::from);
        let (device, n) = (n % u64::from(self.devices), n / u64::from(self.devices));
        [(n % x) as u32, (n / x % y) as u32, (device * z + n / x / y) as u32]
    }

    /// The device of a cluster.
    pub fn device(&self, clusterid: [u32; 3]) -> usize {
        (clusterid[2] / self.clusters[2]) as usize
    }

    /// Bytes of shared memory of a CTA, static and dynamic.
    pub fn shared_size(&self) -> u32 {
        self.info.shared_size + self.dynamic_shared
    }

    /// The begin and the end of reserved shared memory, which lies after all other shared memory. It is empty if the kernel does
    /// not ask for it.
    pub fn reserved_shared(&self) -> (u32, u32) {
        let begin = self.shared_size().next_multiple_of(16);
        if self.info.reserved_shared { (begin, begin + RESERVED) } else { (self.shared_size(), self.shared_size()) }
    }

    /// The end of the last variable in shared memory, or of reserved shared memory: accesses past it fault.
    pub fn shared_end(&self) -> u32 {
        let is_padded = self.dynamic_shared == 0 && !self.info.reserved_shared;
        self.reserved_shared().1 - if is_padded { self.info.shared_padding } else { 0 }
    }

    /// Bytes of local memory of a CTA.
    pub fn local_size(&self) -> usize {
        self.info.local_size as usize * self.threads.next_multiple_of(32) as usize
    }

    /// The name of a region, for reports.
    pub fn region(&self, pc: Pc) -> String {
        let name = match &self.regions {
            Regions::Interpreted(image) => image.regions.get(pc as usize).map(|r| r.name.as_str()),
            Regions::Compiled(names) => names.get(pc as usize).copied(),
        };
        name.map_or_else(|| format!("the end of `{}`", self.info.name), str::to_owned)
    }

    /// The code for the interpreter, which compiled kernels have, too.
    pub fn image(&self) -> Cow<'_, Image> {
        match &self.regions {
            Regions::Interpreted(image) => Cow::Borrowed(image),
            Regions::Compiled(_) => Cow::Owned(self.image_of_compiled().unwrap_or_default()),
        }
    }

    /// The image of a kernel that runs compiled.
    pub fn image_of_compiled(&self) -> Option<Image> {
        match &self.regions {
            Regions::Interpreted(_) => None,
            Regions::Compiled(_) => Image::decode(self.info.image),
        }
    }

    /// The loops that a region is in.
    pub fn loops(&self, pc: Pc) -> Loops {
        let image = self.image();
        self.in_image(&image, pc).map(|pc| Loops::around(&image, pc)).unwrap_or_default()
    }

    /// The first statement of the role that a region is in.
    pub fn role(&self, pc: Pc) -> Option<At> {
        let image = self.image();
        let first = role::first_statement(&image, self.in_image(&image, pc)?)?;
        self.at(first)
    }

    /// The number of a region in the image: the regions of compiled code may have other numbers.
    fn in_image(&self, image: &Image, pc: Pc) -> Option<Pc> {
        let name = self.region(pc);
        let same = |r: &Region| r.name == name;
        let at = image.regions.get(pc as usize).is_some_and(same).then_some(pc);
        at.or_else(|| image.regions.iter().position(same).and_then(|at| at.try_into().ok()))
    }

    /// Is a region in a loop that counts to an end?
    pub fn is_counted(&self, pc: Pc) -> bool {
        match &self.regions {
            Regions::Interpreted(image) => is_counted(image, pc),
            Regions::Compiled(_) => false,
        }
    }

    /// The variable that each statement accesses.
    pub fn variables(&self) -> &Variables {
        self.variables.get_or_init(|| Variables::new(&self.image()))
    }

    /// The variable in which a byte of a window is: its name, its first byte and the byte after its last one. Where several begin at the
    /// same place, as all of dynamic shared memory do, the one that the statement `site` accesses.
    pub fn variable_at(&self, site: u32, window: u8, at: u64) -> Option<(String, u64, u64)> {
        let image = self.image();
        if let Some(region) = only_at(&image.named, window, at) {
            return Some((region.name.clone(), region.from, region.to));
        }
        let mut there = image.variables.iter().filter(|v| v.window == window && (v.from..v.to).contains(&at));
        let first = there.next()?;
        let found = match there.next() {
            None => first.clone(),
            Some(_) => self.variables().only(site).filter(|v| (v.from..v.to).contains(&at))?.clone(),
        };
        Some((found.name, found.from, found.to))
    }

    /// An mbarrier object in words: its offset in shared memory, and the variable there if it is known.
    pub fn mbarrier(&self, site: u32, offset: u32) -> String {
        let found = self.variable_at(site, address::SHARED as u8, offset.into());
        mbarrier(offset, found.as_ref().map(|(name, from, _)| (name.as_str(), *from)))
    }

    /// The statement `site`, for faults.
    pub fn at(&self, site: u32) -> Option<At> {
        self.info.at(site)
    }

    /// The statement `site` in words; `otherwise` if there is none.
    pub fn statement(&self, site: u32, otherwise: &str) -> String {
        match self.at(site) {
            Some(at) => format!("`{}` ({})", at.text, at.short()),
            None => otherwise.into(),
        }
    }
}
