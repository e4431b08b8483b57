//! The places that `.loc` gives the sites of a kernel, without those that no site has, and those of sites in pieces.

use ptx_dsl_isa::origin;
use std::collections::BTreeMap;

/// The files and places of a kernel's sites, as the runtime takes them.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// The names of files.
    pub files: Vec<String>,
    /// The number of the file, line, column, and the number of the place it is inlined at from 1, or 0.
    pub places: Vec<[u32; 4]>,
}

/// Collects them.
pub struct Collector<'m> {
    of_module: &'m origin::Origins,
    of_kernel: Origins,
    /// The numbers of files.
    files: BTreeMap<String, u32>,
    /// By number of the place in the module; 0 for one that is unknown.
    places: BTreeMap<u32, u32>,
    /// The places of pieces and their uses.
    of_pieces: BTreeMap<[u32; 4], u32>,
}

impl<'m> Collector<'m> {
    pub fn new(of_module: &'m origin::Origins) -> Self {
        let (files, places, of_pieces) = Default::default();
        Collector { of_module, of_kernel: Origins::default(), files, places, of_pieces }
    }

    pub fn all(&self) -> &Origins {
        &self.of_kernel
    }

    pub fn into_all(self) -> Origins {
        self.of_kernel
    }

    /// The number of an instruction's place from 1, or 0.
    pub fn of(&mut self, instr: u32) -> u32 {
        // the places that are new, the innermost first
        let (mut new, mut number) = (Vec::new(), self.of_module.of(instr));
        while let Some(place) = self.of_module.place(number)
            && !self.places.contains_key(&number)
        {
            new.push((number, *place));
            number = place.inlined_at;
        }
        let mut known = self.places.get(&number).copied().unwrap_or(0);
        for (number, place) in new.into_iter().rev() {
            known = self.add(place, known);
            self.places.insert(number, known);
        }
        known
    }

    /// A place without a line or a file is that at which it is inlined.
    fn add(&mut self, place: origin::Place, inlined_at: u32) -> u32 {
        let Some(name) = self.of_module.file_of(&place) else { return inlined_at };
        let (Ok(line), Ok(column)) = (u32::try_from(place.line), u32::try_from(place.column)) else {
            return inlined_at;
        };
        let file = self.file(name);
        self.of_kernel.places.push([file, line, column, inlined_at]);
        self.of_kernel.places.len() as u32
    }

    /// The number from 1 of a place in a piece that is used at the other ones, the innermost first; 0 without places.
    pub fn of_piece(&mut self, places: &[(String, u32)]) -> u32 {
        places.iter().rev().fold(0, |inlined_at, (file, line)| {
            let place = [self.file(file), *line, 0, inlined_at];
            let all = &mut self.of_kernel.places;
            *self.of_pieces.entry(place).or_insert_with(|| {
                all.push(place);
                all.len() as u32
            })
        })
    }

    fn file(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.files.get(name) {
            return number;
        }
        let names = &mut self.of_kernel.files;
        names.push(name.to_owned());
        let number = names.len() as u32 - 1;
        self.files.insert(name.to_owned(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::origin::Place;

    fn place(file: u64, line: u64, inlined_at: u32) -> Place {
        Place { file, line, column: 5, inlined_at }
    }

    #[test]
    fn only_what_sites_have() {
        let mut module = origin::Origins::default();
        module.files = [(7, "a.h"), (2, "k.cu"), (3, "other.cu")].map(|(n, name)| (n, name.to_owned())).into();
        let inlined = [place(7, 4, 1), place(7, 5, 3)];
        module.places = [[place(2, 10, 0), place(3, 99, 0)], inlined, [place(2, 0, 0), place(9, 1, 3)]].concat();
        for (instr, place) in [(0, 4), (1, 4), (2, 3), (3, 5), (4, 6), (6, 1)] {
            module.set(instr, place);
        }
        let mut kernel = Collector::new(&module);
        let of: Vec<_> = (0..8).map(|instr| kernel.of(instr)).collect();
        // instruction 3 has no line; 4 is of a file that is not declared, inlined at a place that is known; 5 and 7 have no `.loc`
        assert_eq!(of, [3, 3, 2, 0, 2, 0, 1, 0]);
        let all = kernel.into_all();
        assert_eq!(all.files, ["k.cu", "a.h"]);
        assert_eq!(all.places, [[0, 10, 5, 0], [1, 4, 5, 1], [1, 5, 5, 2]]);
    }

    #[test]
    fn uses_of_pieces_share_places() {
        let module = origin::Origins::default();
        let mut kernel = Collector::new(&module);
        let at = |file: &str, line| (file.to_owned(), line);
        let used = [at("part.rs", 4), at("part.rs", 9), at("k.rs", 20)];
        let other = [at("part.rs", 4), at("k.rs", 20)];
        let of = [&used[..], &[], &other, &used].map(|places| kernel.of_piece(places));
        assert_eq!(of, [3, 0, 4, 3]);
        let all = kernel.into_all();
        assert_eq!(all.files, ["k.rs", "part.rs"]);
        assert_eq!(all.places, [[0, 20, 0, 0], [1, 9, 0, 1], [1, 4, 0, 2], [1, 4, 0, 1]]);
    }
}
