//! The lines of a deadlock report: who waits where for what.

use crate::fault::words::id;
use crate::machine::geometry::Geometry;

/// Lines of a report at most.
const MOST: usize = 64;
/// CTAs of a list that are named.
const NAMED: usize = 4;

/// The waits of the threads of all clusters.
#[derive(Debug, Default)]
pub(in crate::machine) struct Waiting {
    alike: Vec<Alike>,
}

/// Clusters whose threads wait in the same way.
#[derive(Debug)]
struct Alike {
    id: [u32; 3],
    /// The rank of a CTA, and who waits where for what.
    waits: Vec<(u32, String)>,
    /// The other clusters.
    others: Vec<[u32; 3]>,
}

impl Waiting {
    /// The threads of a cluster: the rank of each one's CTA, and what it waits for.
    pub fn add(&mut self, id: [u32; 3], waits: Vec<(u32, String)>) {
        match self.alike.iter_mut().find(|alike| alike.waits == waits) {
            Some(alike) => alike.others.push(id),
            None => self.alike.push(Alike { id, waits, others: Vec::new() }),
        }
    }

    /// A line for each group of threads, and one for the clusters that wait like those before it.
    pub fn lines(&self, geometry: &Geometry<'_>) -> Vec<String> {
        let mut all: Vec<String> = self.alike.iter().flat_map(|alike| alike.lines(geometry)).collect();
        if all.len() > MOST {
            let more = all.len() - MOST;
            all.truncate(MOST);
            all.push(format!("and {more} more groups of threads"));
        }
        all
    }
}

impl Alike {
    fn lines(&self, geometry: &Geometry<'_>) -> Vec<String> {
        let line = |(rank, wait): &(u32, String)| format!("CTA {}, {wait}", id(geometry.ctaid(self.id, *rank)));
        let mut all: Vec<String> = self.waits.iter().map(line).collect();
        if self.waits.is_empty() || self.others.is_empty() {
            return all;
        }
        let named = self.others.iter().take(NAMED).map(|cluster| id(geometry.ctaid(*cluster, 0)));
        let more = match self.others.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let of = match (geometry.cluster_size(), self.others.len()) {
            (1, 1) => "CTA",
            (1, _) => "CTAs",
            (_, 1) => "the cluster of CTA",
            _ => "the clusters of CTAs",
        };
        all.push(format!("the same in {of} {}{more}", named.collect::<Vec<_>>().join(", ")));
        all
    }
}
