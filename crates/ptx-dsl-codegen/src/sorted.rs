//! Maps and sets that are sorted lists. Those of the standard library are made anew for each type, a tenth of this crate's code a
//! dozen times; here little is made, one order is kept, and what comes in ascending order is put behind the rest.

use std::cmp::Ordering;

/// A value for each key, by the order of the keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<K, V>(Vec<(K, V)>);

/// Keys in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Set<K>(Vec<K>);

/// Where a key is in a list of `high`, or where it belongs; `order` compares one of the list with it.
fn place(mut high: usize, order: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    if high > 0 && order(high - 1) == Ordering::Less {
        return Err(high);
    }
    let mut low = 0;
    while low < high {
        let middle = (low + high) / 2;
        match order(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

impl<K: Ord, V> Map<K, V> {
    pub fn new() -> Self {
        Map(Vec::new())
    }

    fn place(&self, key: &K) -> Result<usize, usize> {
        let list = self.0.as_slice();
        place(list.len(), &|n| list[n].0.cmp(key))
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        match self.place(key) {
            Ok(at) => Some(&self.0[at].1),
            Err(_) => None,
        }
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.place(key) {
            Ok(at) => Some(&mut self.0[at].1),
            Err(_) => None,
        }
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.place(key).is_ok()
    }

    /// The value before, if there was one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// The value, which is `value` if there was none.
    pub fn or_insert(&mut self, key: K, value: V) -> &mut V {
        let at = match self.place(&key) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (key, value));
                at
            }
        };
        &mut self.0[at].1
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        match self.place(key) {
            Ok(at) => Some(self.0.remove(at).1),
            Err(_) => None,
        }
    }

    /// The entries, by the order of the keys.
    pub fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, (K, V)> {
        self.0.iter_mut()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K: Ord> Set<K> {
    pub fn new() -> Self {
        Set(Vec::new())
    }

    fn place(&self, key: &K) -> Result<usize, usize> {
        let list = self.0.as_slice();
        place(list.len(), &|n| list[n].cmp(key))
    }

    pub fn contains(&self, key: &K) -> bool {
        self.place(key).is_ok()
    }

    /// Was it new?
    pub fn insert(&mut self, key: K) -> bool {
        match self.place(&key) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, key);
                true
            }
        }
    }

    /// Was it there?
    pub fn remove(&mut self, key: &K) -> bool {
        match self.place(key) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// These as well.
    pub fn insert_all(&mut self, more: &[K])
    where
        K: Clone,
    {
        for key in more {
            self.insert(key.clone());
        }
    }

    /// Those of another as well.
    pub fn add(&mut self, more: &Set<K>)
    where
        K: Clone,
    {
        self.insert_all(&more.0);
    }

    /// All of them.
    pub fn into_list(self) -> Vec<K> {
        self.0
    }

    /// Without those of another.
    pub fn take_out(&mut self, other: &Set<K>) {
        self.take_out_if(&|k| other.contains(k));
    }

    /// Without some.
    pub fn take_out_if(&mut self, some: &dyn Fn(&K) -> bool) {
        self.0.retain(|k| !some(k));
    }

    pub fn pop_first(&mut self) -> Option<K> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    pub fn pop_last(&mut self) -> Option<K> {
        self.0.pop()
    }

    /// The keys in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, K> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<K> Default for Set<K> {
    fn default() -> Self {
        Set(Vec::new())
    }
}

impl<K: Ord, V> std::ops::Index<&K> for Map<K, V> {
    type Output = V;

    /// Of a key that is there.
    fn index(&self, key: &K) -> &V {
        match self.place(key) {
            Ok(at) => &self.0[at].1,
            Err(_) => panic!("no such key"),
        }
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = &'a (K, V);
    type IntoIter = std::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, K> IntoIterator for &'a Set<K> {
    type Item = &'a K;
    type IntoIter = std::slice::Iter<'a, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// The same in these and in those of the standard library, for keys that come in no order and again and again.
    #[test]
    fn they_are_what_those_of_the_standard_library_are() {
        let (mut map, mut set) = (Map::new(), Set::new());
        let (mut theirs, mut their_set) = (BTreeMap::new(), BTreeSet::new());
        let mut seed = 1u64;
        for n in 0..5000u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = (seed >> 33) as u32 % 97;
            match seed >> 60 {
                0..4 => assert_eq!(map.insert(key, n), theirs.insert(key, n)),
                4..6 => assert_eq!(map.or_insert(key, n), theirs.entry(key).or_insert(n)),
                6..9 => assert_eq!(map.remove(&key), theirs.remove(&key)),
                9..12 => assert_eq!(set.insert(key), their_set.insert(key)),
                12..14 => assert_eq!(set.remove(&key), their_set.remove(&key)),
                14 => assert_eq!(set.pop_first(), their_set.pop_first()),
                _ => assert_eq!(set.pop_last(), their_set.pop_last()),
            }
            assert_eq!((map.get(&key), set.contains(&key)), (theirs.get(&key), their_set.contains(&key)));
        }
        assert!(map.iter().map(|(k, v)| (k, v)).eq(&theirs) && set.iter().eq(&their_set));
        assert!(map.len() > 10 && set.len() > 10, "{} {}", map.len(), set.len());
        let (mut all, mut more) = (Set::new(), Set::new());
        all.insert_all(&[3, 1, 3]);
        more.insert_all(&[2, 1]);
        all.add(&more);
        assert_eq!(all, Set(vec![1, 2, 3]));
        all.take_out(&more);
        assert_eq!(all.into_list(), [3]);
    }
}
