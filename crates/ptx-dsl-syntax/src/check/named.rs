//! Things by name.

use std::collections::HashMap;

/// One thing for each name, in the order in which the names came. All kinds of things share one kind of map, so that it is
/// compiled once.
#[derive(Debug)]
pub(super) struct Named<T> {
    places: HashMap<String, usize>,
    values: Vec<T>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { places: HashMap::new(), values: Vec::new() }
    }
}

impl<T> Named<T> {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        Some(&self.values[*self.places.get(name)?])
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        Some(&mut self.values[*self.places.get(name)?])
    }

    /// In place of what had the name, if anything did. Was the name new?
    pub(super) fn insert(&mut self, name: &str, value: T) -> bool {
        if let Some(old) = self.get_mut(name) {
            *old = value;
            return false;
        }
        self.places.insert(name.to_string(), self.values.len());
        self.values.push(value);
        true
    }

    /// The names in their order, each with its thing.
    pub(super) fn list(&self) -> Vec<(&str, &T)> {
        let mut list = Vec::with_capacity(self.values.len());
        for value in &self.values {
            list.push(("", value));
        }
        for (name, at) in &self.places {
            list[*at].0 = name;
        }
        list
    }
}
