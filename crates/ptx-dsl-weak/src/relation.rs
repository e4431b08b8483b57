//! Relations between at most 64 events, as bit matrices.

/// A relation: bit `b` of row `a` says that `a` is related to `b`.
#[derive(Clone, PartialEq, Eq)]
pub struct Relation {
    rows: Vec<u64>,
}

impl Relation {
    pub fn empty(n: usize) -> Self {
        Relation { rows: vec![0; n] }
    }

    /// All pairs that the predicate holds for.
    pub fn of(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let row = |a| (0..n).filter(|&b| holds(a, b)).fold(0, |row, b| row | 1 << b);
        Relation { rows: (0..n).map(row).collect() }
    }

    pub fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    pub fn add_all(&mut self, a: usize, set: u64) {
        self.rows[a] |= set;
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    pub fn row(&self, a: usize) -> u64 {
        self.rows[a]
    }

    pub fn or(&self, other: &Self) -> Self {
        Relation { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a | b).collect() }
    }

    pub fn and(&self, other: &Self) -> Self {
        Relation { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a & b).collect() }
    }

    /// `self ; other`.
    pub fn then(&self, other: &Self) -> Self {
        let row = |&set: &u64| bits(set).fold(0, |row, b| row | other.rows[b]);
        Relation { rows: self.rows.iter().map(row).collect() }
    }

    pub fn inverse(&self) -> Self {
        let mut inverse = Relation::empty(self.rows.len());
        for (a, &row) in self.rows.iter().enumerate() {
            bits(row).for_each(|b| inverse.add(b, a));
        }
        inverse
    }

    /// The pairs from a member of `from` to a member of `to`.
    pub fn between(&self, from: u64, to: u64) -> Self {
        let row = |(a, row): (usize, &u64)| if from >> a & 1 == 1 { row & to } else { 0 };
        Relation { rows: self.rows.iter().enumerate().map(row).collect() }
    }

    /// The relation with each event related to itself.
    pub fn or_same(&self) -> Self {
        Relation { rows: self.rows.iter().enumerate().map(|(a, row)| row | 1 << a).collect() }
    }

    /// The transitive closure (Warshall).
    pub fn closure(&self) -> Self {
        let mut rows = self.rows.clone();
        for b in 0..rows.len() {
            let through = rows[b];
            for row in &mut rows {
                if *row >> b & 1 == 1 {
                    *row |= through;
                }
            }
        }
        Relation { rows }
    }

    pub fn irreflexive(&self) -> bool {
        self.rows.iter().enumerate().all(|(a, row)| row >> a & 1 == 0)
    }

    pub fn acyclic(&self) -> bool {
        self.closure().irreflexive()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|&row| row == 0)
    }
}

/// The members of a set, in order.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros() as usize;
            set &= set - 1;
            bit
        })
    })
}
