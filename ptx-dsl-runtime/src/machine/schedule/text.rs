//! Schedules as short texts, to copy into a test or an environment variable.
//!
//! `seed17` is a seed. `s1_4.2_.1_7c3` are decisions: the kind and the version of the format, then each decision that is not 0 after
//! the number of zeros before it, then a checksum.

use std::fmt;
use std::str::FromStr;

/// The input that determines a schedule. [`Host::schedule`](crate::api::host::Host::schedule) takes its text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// The schedule of [`Host::seed`](crate::api::host::Host::seed).
    Seed(u64),
    /// The schedule of [`Host::replay`](crate::api::host::Host::replay).
    Turns(Vec<u32>),
    /// A schedule of an exploration that goes step by step ([`Explore::exhaustive`](crate::api::host::Explore::exhaustive),
    /// [`Explore::pct`](crate::api::host::Explore::pct)).
    Steps(Vec<u32>),
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, decisions) = match self {
            Schedule::Seed(seed) => return write!(f, "seed{seed}"),
            Schedule::Turns(decisions) => ("t3", decisions),
            Schedule::Steps(decisions) => ("s1", decisions),
        };
        let mut text = kind.to_owned();
        let mut zeros = 0;
        for decision in decisions {
            match decision {
                0 => zeros += 1,
                decision => {
                    let before = if zeros == 0 { String::new() } else { zeros.to_string() };
                    text += &format!("_{before}.{decision}");
                    zeros = 0;
                }
            }
        }
        write!(f, "{text}_{:03x}", checksum(&text))
    }
}

/// The most decisions that a text may stand for.
const MOST: usize = 1 << 24;

/// Why a text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The text after `seed` is not a number.
    #[error("`{0}` is not a seed")]
    Seed(String),
    /// The format is not known.
    #[error("it begins with none of `s1`, `t3` and `seed`: another version may have made it")]
    Format,
    /// The checksum is missing.
    #[error("its end is missing")]
    End,
    /// The checksum is another one.
    #[error("its checksum is wrong: a part is missing or changed")]
    Checksum,
    /// A part is not a decision.
    #[error("`{0}` is not a decision")]
    Decision(String),
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        if let Some(seed) = text.strip_prefix("seed") {
            return seed.parse().map(Schedule::Seed).map_err(|_| ScheduleError::Seed(seed.to_owned()));
        }
        let steps = match text.split('_').next() {
            Some("s1") => true,
            Some("t3") => false,
            _ => return Err(ScheduleError::Format),
        };
        let (body, sum) = text.rsplit_once('_').ok_or(ScheduleError::End)?;
        if sum.len() != 3 || u32::from_str_radix(sum, 16) != Ok(checksum(body)) {
            return Err(ScheduleError::Checksum);
        }
        let mut decisions = Vec::new();
        for part in body.split('_').skip(1) {
            let wrong = || ScheduleError::Decision(part.to_owned());
            let (zeros, decision) = part.split_once('.').ok_or_else(wrong)?;
            let zeros: usize = if zeros.is_empty() { 0 } else { zeros.parse().map_err(|_| wrong())? };
            if zeros > MOST - decisions.len().min(MOST) {
                return Err(wrong());
            }
            decisions.resize(decisions.len() + zeros, 0);
            decisions.push(decision.parse().map_err(|_| wrong())?);
        }
        Ok(if steps { Schedule::Steps(decisions) } else { Schedule::Turns(decisions) })
    }
}

/// FNV-1a, folded to 12 bits.
fn checksum(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5u32, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash ^ hash >> 12 ^ hash >> 24) & 0xfff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_the_schedule_that_it_was_made_from() {
        for schedule in [
            Schedule::Seed(u64::MAX),
            Schedule::Steps(vec![]),
            Schedule::Steps(vec![0, 0, 3, 1, 0, 200]),
            Schedule::Turns(vec![1, 0, 1]),
        ] {
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        let text = Schedule::Steps(vec![0, 0, 3, 1]).to_string();
        assert!(text.starts_with("s1_2.3_.1_"), "{text}");
    }

    #[test]
    fn wrong_texts_are_refused_with_a_reason() {
        let text = Schedule::Steps(vec![0, 0, 3, 1]).to_string();
        let of = |text: &str| text.parse::<Schedule>().unwrap_err();
        assert_eq!(of(&text.replace("2.3", "2.4")), ScheduleError::Checksum);
        assert_eq!(of(&text[..text.len() - 1]), ScheduleError::Checksum);
        assert_eq!(of("s9_000"), ScheduleError::Format);
        assert_eq!(of(""), ScheduleError::Format);
        assert_eq!(of("s1"), ScheduleError::End);
        assert_eq!(of("seedx"), ScheduleError::Seed("x".to_owned()));
        let body = "s1_99999999999.1";
        assert_eq!(of(&format!("{body}_{:03x}", checksum(body))), ScheduleError::Decision("99999999999.1".to_owned()));
        let body = "s1_1";
        assert_eq!(of(&format!("{body}_{:03x}", checksum(body))), ScheduleError::Decision("1".to_owned()));
    }
}
