//! Messages that are kept by place agree with a table of all messages.

use super::*;
use crate::observe::monitor::Sem;
use ptx_dsl_test_support::random::Random;

/// A table with all messages, which the two forms replace.
#[derive(Default)]
struct Table(FxHashMap<MessageKey, Message>);

impl Table {
    fn send(&mut self, key: MessageKey, issuer: Issuer, clocks: Fenced, order: Order) {
        if !self.0.contains_key(&key) && order.atomic && clocks.is_empty() {
            return;
        }
        self.0.entry(key).or_insert_with(|| Message::new(issuer)).publish(issuer, clocks, order.atomic);
    }
}

/// The observation of a load, in words.
fn seen(found: Option<Found<'_>>, warp: Actor, scope: Scope) -> String {
    let seen = match found {
        None => Vec::new(),
        Some(Found::Message(message)) => message.seen(warp, scope),
        Some(Found::Relaxed(issuer)) => {
            let missed = |(events, why)| Seen { what: Observed::Missed { events, why }, site: issuer.site };
            issuer.missed(warp).map(missed).into_iter().collect()
        }
    };
    format!("{seen:?}")
}

fn random_key(r: &mut Random) -> MessageKey {
    let memory = r.choose(&[
        ShadowedMemory::Shared { slot: 0, rank: 0 },
        ShadowedMemory::Shared { slot: 1, rank: 2 },
        ShadowedMemory::Global { segment: 3 },
    ]);
    (memory, r.choose(&[0, 4, 8, 12, 2, 5, 1020, 1024, 1 << 12, 1 << 40]))
}

#[test]
fn places_say_what_a_table_says() {
    let r = &mut Random::new(1);
    let (mut messages, mut table) = (Messages::default(), Table::default());
    let mut seen_by_place = 0;
    for time in 0..50_000 {
        let key = random_key(r);
        // a warp stores several times before it synchronises
        let issuer = Issuer { warp: r.below(4) << 9, lanes: 1 << r.below(32), time: time / 8, site: r.below(5) };
        let mut clock = Clock::default();
        clock.learn(issuer.warp, issuer.lanes, time);
        let scope = r.choose(&[Scope::Cta, Scope::Gpu]);
        let clocks = if r.below(4) == 0 { vec![(scope, Rc::new(clock))] } else { Vec::new() };
        let order = Order::new(Sem::Relaxed, scope).with_atomic(r.below(3) == 0);
        match r.below(40) {
            0 => {
                let slot = r.below(2);
                messages.start(slot);
                table
                    .0
                    .retain(|(memory, _), _| !matches!(memory, ShadowedMemory::Shared { slot: s, .. } if *s == slot));
            }
            1..20 => {
                messages.overwrite(key);
                table.0.remove(&key);
            }
            _ => {
                messages.send(key, issuer, clocks.clone(), order);
                table.send(key, issuer, clocks, order);
            }
        }
        let key = random_key(r);
        let (found, expected) = (messages.at(key), table.0.get(&key).map(Found::Message));
        seen_by_place += usize::from(matches!(found, Some(Found::Relaxed(_))));
        assert!(found.is_none() || messages.may_be_in(key.0, key.1, 1));
        assert_eq!(seen(found, issuer.warp, scope), seen(expected, issuer.warp, scope), "{key:?} at {time}");
        assert_eq!(messages.is_empty(), table.0.is_empty());
    }
    assert!(seen_by_place > 1000, "{seen_by_place}");
}
