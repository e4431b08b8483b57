//! Summary pages: the lines of a memory, made as they are used. A summary stands for neighbouring lines that have had the same accesses.

use super::line::Line;

/// Neighbouring lines, from a multiple of this number on, that are a group.
pub(super) const GROUP: u64 = 8;

/// Groups of a page.
const GROUPS: usize = 128;

/// Lines of a page.
const PAGE: usize = GROUPS * GROUP as usize;

/// SummaryPages of the largest memory of the host.
const MOST: usize = 1 << 24;

/// Lines that are alike, on the heap from the start.
#[cold]
fn new_lines<const N: usize>(line: Line) -> Box<[Line; N]> {
    vec![line; N].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([line; N]))
}

/// The lines of a group, from its first one in a page on.
fn lines_of(group: usize) -> std::ops::Range<usize> {
    let from = group * GROUP as usize;
    from..from + GROUP as usize
}

/// The lines of a memory.
#[derive(Debug, Default)]
pub(super) struct SummaryPages {
    /// By page: the summaries of its groups, for the lines that are not apart.
    summaries: Vec<Option<Box<[Line; GROUPS]>>>,
    /// By page: lines that are apart. The others say that their group has their accesses.
    lines: Vec<Option<Box<[Line; PAGE]>>>,
    /// The lines from here on have no accesses.
    end: u64,
}

impl SummaryPages {
    /// Has nobody accessed any line?
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Page and line of it.
    #[inline]
    fn place(number: u64) -> (usize, usize) {
        let page = usize::try_from(number / PAGE as u64).unwrap_or(usize::MAX);
        (page, (number % PAGE as u64) as usize)
    }

    /// A line, made if need be. `None` if no memory is so large.
    #[inline]
    pub fn line(&mut self, number: u64) -> Option<&mut Line> {
        let (page, at) = SummaryPages::place(number);
        if !self.is_apart(page, at) {
            self.set_apart(page, at / GROUP as usize)?;
        }
        Some(&mut self.lines.get_mut(page)?.as_mut()?[at])
    }

    /// Does a line have records of its own?
    #[inline]
    fn is_apart(&self, page: usize, at: usize) -> bool {
        matches!(self.lines.get(page), Some(Some(lines)) if !lines[at].is_of_group())
    }

    /// The lines of a group have records of their own from now on.
    #[inline(never)]
    fn set_apart(&mut self, page: usize, group: usize) -> Option<()> {
        let line = std::mem::take(self.summaries_of(page)?.get_mut(group)?);
        if self.lines.len() <= page {
            self.lines.resize_with(page + 1, || None);
        }
        let lines = self.lines[page].get_or_insert_with(|| new_lines(Line::of_group()));
        lines[lines_of(group)].fill(line);
        self.end = self.end.max(page as u64 * PAGE as u64 + lines_of(group).end as u64);
        Some(())
    }

    /// The summaries of a page, made if need be. `None` if no memory is so large.
    #[inline]
    fn summaries_of(&mut self, page: usize) -> Option<&mut [Line; GROUPS]> {
        if self.summaries.len() <= page {
            if page >= MOST {
                return None;
            }
            self.summaries.resize_with(page + 1, || None);
        }
        Some(self.summaries[page].get_or_insert_with(|| new_lines(Line::default())))
    }

    /// The lines of a group, from its first line on, if they have had the same accesses.
    #[inline]
    pub fn group(&mut self, first: u64) -> Option<&mut Line> {
        let (page, at) = SummaryPages::place(first);
        let group = at / GROUP as usize;
        if self.is_apart(page, at) {
            return None;
        }
        self.end = self.end.max(first + GROUP);
        Some(&mut self.summaries_of(page)?[group])
    }

    /// Returns the record of a line, if somebody has accessed its page.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&Line> {
        let (page, at) = SummaryPages::place(number);
        match self.lines.get(page) {
            Some(Some(lines)) if !lines[at].is_of_group() => Some(&lines[at]),
            _ => self.summaries.get(page)?.as_ref().map(|groups| &groups[at / GROUP as usize]),
        }
    }

    /// The first of some lines for which `change` is false; it changes the others, many at once where they have had the same accesses.
    /// It may make all of them alike.
    #[inline(always)]
    pub fn change_while(
        &mut self,
        (from, to): (u64, u64),
        alike: bool,
        mut change: impl FnMut(&mut Line) -> bool,
    ) -> u64 {
        let mut next = from;
        while next < to {
            let (page, at) = SummaryPages::place(next);
            let Some(Some(groups)) = self.summaries.get_mut(page) else { break };
            let (group, most) = (at / GROUP as usize, (GROUP - next % GROUP).min(to - next));
            let lines = self.lines.get_mut(page).and_then(Option::as_mut).filter(|lines| !lines[at].is_of_group());
            let changed = match lines {
                None if most == GROUP => u64::from(change(&mut groups[group])) * GROUP,
                None => {
                    // only some of them are changed
                    if self.set_apart(page, group).is_none() {
                        break;
                    }
                    continue;
                }
                Some(lines) => {
                    let mut some = lines[at..at + most as usize].iter_mut();
                    let changed = some.position(|line| !change(line)).map_or(most, |at| at as u64);
                    if alike && changed == GROUP {
                        groups[group] = lines[at];
                        lines[lines_of(group)].fill(Line::of_group());
                    }
                    changed
                }
            };
            next += changed;
            if changed < most {
                break;
            }
        }
        if next > from {
            self.end = self.end.max(next);
        }
        next
    }

    /// Calls `f` with all lines, once for a group of lines that have had the same accesses.
    pub fn each(&mut self, mut f: impl FnMut(&mut Line)) {
        for groups in self.summaries.iter_mut().flatten() {
            groups.iter_mut().for_each(&mut f);
        }
        for lines in self.lines.iter_mut().flatten() {
            lines.iter_mut().filter(|line| !line.is_of_group()).for_each(&mut f);
        }
    }

    pub fn bytes(&self) -> usize {
        let of = |lines: &[Line]| size_of_val(lines);
        let groups: usize = self.summaries.iter().flatten().map(|groups| of(&groups[..])).sum();
        let lines: usize = self.lines.iter().flatten().map(|lines| of(&lines[..])).sum();
        groups + lines
    }

    /// Nobody has accessed anything. Keeps the pages.
    pub fn clear(&mut self) {
        let used = |page: u64, of: u64| (self.end - page * PAGE as u64).div_ceil(of) as usize;
        let pages = self.end.div_ceil(PAGE as u64) as usize;
        for (page, groups) in (0..).zip(self.summaries.iter_mut().take(pages)) {
            let used = used(page, GROUP).min(GROUPS);
            groups.iter_mut().for_each(|groups| groups[..used].fill(Line::default()));
        }
        for (page, lines) in (0..).zip(self.lines.iter_mut().take(pages)) {
            let used = used(page, 1).min(PAGE);
            lines.iter_mut().for_each(|lines| lines[..used].fill(Line::of_group()));
        }
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks a line.
    fn mark(line: &mut Line, number: u32) -> bool {
        line.last.tags.set_list(number);
        true
    }

    fn marks(pages: &SummaryPages, lines: std::ops::Range<u64>) -> Vec<u32> {
        lines.map(|line| pages.get(line).map_or(0, |line| line.last.tags.list())).collect()
    }

    /// The number of visited records that have a mark.
    fn records(pages: &mut SummaryPages) -> usize {
        let mut count = 0;
        pages.each(|line| count += usize::from(line.last.tags.list() != 0));
        count
    }

    #[test]
    fn lines_of_a_group_are_one_until_one_differs() {
        let mut pages = SummaryPages::default();
        for first in [1016, 1024, 1032] {
            mark(pages.group(first).unwrap(), 1);
        }
        assert_eq!((records(&mut pages), marks(&pages, 1015..1041)), (3, [&[0][..], &[1; 24], &[0]].concat()));
        // a part of two groups, in two pages
        assert_eq!(pages.change_while((1022, 1026), true, |line| mark(line, 2)), 1026);
        assert_eq!((records(&mut pages), pages.group(1016).is_some(), pages.group(1032).is_some()), (17, false, true));
        assert_eq!(marks(&pages, 1020..1028), [1, 1, 2, 2, 2, 2, 1, 1]);
        // all of one group, and up to a line of the next one that is not changed
        let change = |line: &mut Line| line.last.tags.list() != 0 && mark(line, 3);
        assert_eq!(pages.change_while((1016, 1100), true, change), 1040);
        assert_eq!((records(&mut pages), marks(&pages, 1015..1041)), (3, [&[0][..], &[3; 24], &[0]].concat()));
        mark(pages.line(1018).unwrap(), 4);
        assert_eq!(marks(&pages, 1016..1020), [3, 3, 4, 3]);
        pages.clear();
        assert_eq!((records(&mut pages), marks(&pages, 1000..1050), pages.is_empty()), (0, vec![0; 50], true));
        assert!(pages.line(1 << 40).is_none());
    }
}
