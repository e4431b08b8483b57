//! Which instance computes a product, and with how many CTAs.

use crate::Error;
use ptx_dsl::tensor_map::Swizzle;

/// The sizes of a product: A is `m` x `k`, B is `n` x `k`, C is `m` x `n`, all row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Rows of B, columns of C.
    pub n: usize,
    /// Columns of A and B.
    pub k: usize,
}

/// Multiprocessors of an H100 SXM and of an H200.
pub const MULTIPROCESSORS: u32 = 132;

/// The widths of tiles, and the time of 64 elements of K, measured on an H200, in hundredths of that of the widest tile.
const COSTS: [(u32, u64); 5] = [(256, 100), (192, 74), (144, 57), (128, 51), (64, 26)];
/// The time of a tile without that of K, and what is added to it where CTAs exchange sums.
const TILE: u64 = 400;
const EXCHANGE: u64 = 470;

/// What the CTAs of a cluster do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cluster {
    /// A cluster is a CTA, with tiles of its own.
    Alone,
    /// This many CTAs, 2 to 8, have a part of K of a tile each, and add up their sums.
    Split(u32),
    /// Two CTAs have a tile each, one below the other, and load B together. It is of use where rows of A and B do not begin at multiples of
    /// 128 bytes, because loads are slower then.
    Pair,
}

impl Cluster {
    /// CTAs of a cluster.
    pub fn ctas(self) -> u32 {
        match self {
            Cluster::Alone => 1,
            Cluster::Split(ctas) => ctas,
            Cluster::Pair => 2,
        }
    }

    /// Clusters that run at a time, if each CTA needs a multiprocessor. A cluster is in one group of some 18 multiprocessors: an H100 and an
    /// H200 have room for 39 clusters of 3 CTAs, 30 of 4, 22 of 5, 17 of 6, 15 of 7 and of 8.
    fn resident(self, multiprocessors: u32) -> u32 {
        let clusters = match self.ctas() {
            ctas @ ..=2 => multiprocessors / ctas,
            ctas @ 3..=5 => multiprocessors / ctas * 8 / 9,
            ctas => multiprocessors / ctas * 7 / 8,
        };
        clusters.max(1)
    }
}

/// How a product is launched: its tiles, and the number of CTAs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    shape: Shape,
    width: u32,
    cluster: Cluster,
    ctas: u32,
}

impl Plan {
    /// A plan with tiles of 128 x `width` elements, 128, 144, 192 or 256, or of 64 x 64. There is a CTA for each multiprocessor, but no more
    /// than keep the last wave as full as the others.
    ///
    /// # Errors
    /// A dimension is 0 or 2^32 or more, or `width` or the cluster is none of these. K is split only if all tiles are computed at a time, and
    /// if each CTA has 64 elements of K.
    pub fn new(shape: Shape, width: u32, cluster: Cluster, multiprocessors: u32) -> Result<Plan, Error> {
        let Shape { m, n, k } = shape;
        for (name, has) in [("m", m), ("n", n), ("k", k)] {
            if has == 0 || u32::try_from(has).is_err() {
                return Err(Error::Dimension { name, has, wants: "from 1 to 2^32 - 1" });
            }
        }
        if !COSTS.iter().any(|(known, _)| *known == width) {
            return Err(Error::Dimension { name: "width", has: width as usize, wants: "64, 128, 144, 192 or 256" });
        }
        let mut plan = Plan { shape, width, cluster, ctas: 0 };
        let tiles = u32::try_from(m.div_ceil(plan.cluster_rows()) * n.div_ceil(width as usize));
        let tiles = tiles.map_err(|_| Error::Dimension { name: "m", has: m, wants: "less than 2^32 tiles" })?;
        let clusters = cluster.resident(multiprocessors);
        match cluster {
            Cluster::Split(2..=8) if tiles <= clusters && k.div_ceil(64) >= cluster.ctas() as usize => {}
            Cluster::Split(ctas) => {
                return Err(Error::Dimension {
                    name: "split",
                    has: ctas as usize,
                    wants: "from 2 to 8 where that fits",
                });
            }
            Cluster::Alone | Cluster::Pair => {}
        }
        plan.ctas = tiles.div_ceil(tiles.div_ceil(clusters)) * cluster.ctas();
        Ok(plan)
    }

    /// The plan for a shape: the one that needs the least time, which is estimated from the number of waves.
    ///
    /// # Errors
    /// As [`new`](Plan::new).
    pub fn of(shape: Shape, multiprocessors: u32) -> Result<Plan, Error> {
        let plans = Plan::all(shape, multiprocessors);
        match plans.min_by_key(|plan| plan.cost(multiprocessors)) {
            Some(plan) => Ok(plan),
            None => Plan::new(shape, 256, Cluster::Alone, multiprocessors),
        }
    }

    /// Every plan for a shape.
    pub fn all(shape: Shape, multiprocessors: u32) -> impl Iterator<Item = Plan> {
        let clusters = [Cluster::Alone, Cluster::Pair].into_iter().chain((2..=8).map(Cluster::Split));
        let plan = move |width, cluster| Plan::new(shape, width, cluster, multiprocessors).ok();
        COSTS.iter().flat_map(move |(width, _)| clusters.clone().filter_map(move |cluster| plan(*width, cluster)))
    }

    /// The time of the launch, in hundredths of that of a block of 128 x 256 x 64.
    fn cost(&self, multiprocessors: u32) -> u64 {
        let Shape { m, n, k } = self.shape;
        let block = COSTS.iter().find(|(width, _)| *width == self.width).map_or(0, |(_, cost)| *cost);
        let (parts, exchange) = match self.cluster {
            Cluster::Split(parts) => (parts, EXCHANGE),
            _ => (1, 0),
        };
        // loads take longer where rows are not aligned, and pairs make fewer
        let percent = match (k % 64 == 0, self.cluster) {
            (true, Cluster::Pair) => 103,
            (true, _) => 100,
            (false, Cluster::Pair) => 120,
            (false, _) => 140,
        };
        let tiles = m.div_ceil(self.cluster_rows()) * n.div_ceil(self.width as usize) * self.cluster.ctas() as usize;
        let blocks = k.div_ceil(64).div_ceil(parts as usize) as u64;
        (tiles as u64).div_ceil(u64::from(multiprocessors.max(1))) * (blocks * block * percent / 100 + TILE + exchange)
    }

    /// The sizes of the product.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Rows of a tile of C.
    pub fn height(&self) -> u32 {
        if self.width == 64 { 64 } else { 128 }
    }

    /// Columns of a tile of C.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows of C that a cluster computes at a time.
    fn cluster_rows(&self) -> usize {
        self.height() as usize * if self.cluster == Cluster::Pair { 2 } else { 1 }
    }

    /// What the CTAs of a cluster do together.
    pub fn cluster(&self) -> Cluster {
        self.cluster
    }

    /// CTAs of the launch.
    pub fn ctas(&self) -> u32 {
        self.ctas
    }

    /// The bytes of a row of the boxes in which C is stored: 128, 64 or 32.
    pub(super) fn box_bytes(&self) -> u32 {
        match self.width {
            144 => 32,
            64 => 64,
            _ => 128,
        }
    }

    /// The swizzle of these boxes, which is as wide as they are.
    pub(super) fn swizzle(&self) -> Swizzle {
        match self.box_bytes() {
            128 => Swizzle::B128,
            64 => Swizzle::B64,
            _ => Swizzle::B32,
        }
    }

    /// Bytes of shared memory: as many stages as there is room for, a tile of C in 16 bits, and the mbarriers.
    pub fn shared_memory(&self) -> u32 {
        let stage = (self.height() + self.width) * 128 + 16;
        let result = 2 * self.height() * self.width;
        (231_424 - result) / stage * stage + result
    }
}
