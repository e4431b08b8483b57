//! Which schedules this process runs, if several share an exploration.

use crate::api::launch::Error;

/// A part of all schedules: each `of`-th, from the `nth` (counted from 0) on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    nth: u64,
    of: u64,
}

impl Shard {
    pub const ALL: Shard = Shard { nth: 0, of: 1 };

    /// Reads the environment variable `PTX_DSL_SHARD`, such as `2/8`.
    pub fn of_environment() -> Result<Shard, Error> {
        match std::env::var("PTX_DSL_SHARD") {
            Ok(text) => Shard::parse(&text).ok_or(Error::Shard { value: text }),
            Err(_) => Ok(Shard::ALL),
        }
    }

    fn parse(text: &str) -> Option<Shard> {
        let (nth, of) = text.split_once('/')?;
        let (nth, of): (u64, u64) = (nth.trim().parse().ok()?, of.trim().parse().ok()?);
        (1..=of).contains(&nth).then(|| Shard { nth: nth - 1, of })
    }

    /// Does this process run the schedule of this number?
    pub fn has(self, schedule: u64) -> bool {
        schedule % self.of == self.nth
    }

    /// Does it run an exploration that cannot be divided, begun at this place of the source?
    pub fn has_place(self, place: &std::panic::Location<'_>) -> bool {
        let text = format!("{}:{}", place.file().replace('\\', "/"), place.line());
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        self.has(hash >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_together_have_everything_once() {
        let shards: Vec<_> = (1..=8).map(|k| Shard::parse(&format!("{k}/8")).unwrap()).collect();
        for schedule in 0..100 {
            assert_eq!(shards.iter().filter(|s| s.has(schedule)).count(), 1);
        }
        let place = std::panic::Location::caller();
        assert_eq!(shards.iter().filter(|s| s.has_place(place)).count(), 1);
        for wrong in ["", "2", "0/8", "9/8", "a/b", "1/0"] {
            assert_eq!(Shard::parse(wrong), None, "{wrong}");
        }
    }
}
