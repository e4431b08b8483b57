//! Release and acquire patterns through memory (8.8): what strong stores publish, and strong loads observe.

use super::Checked;
use super::messages::{Found, Issuer, Observed, Seen};
use super::misses::Events;
use super::shadow::ShadowedMemory;
use super::threads::{Fenced, Warp};
use crate::fault::TooWeak;
use crate::observe::monitor::{Access, Offsets, Who};
use std::rc::Rc;

impl Checked {
    /// An access of one lane.
    pub(super) fn exchange(&mut self, a: &Access, memory: ShadowedMemory, offset: u64) {
        let key = (memory, offset);
        if !a.write && a.order.is_strong() {
            // `red` returns nothing, so it observes nothing: but its chain goes on
            self.sees(a, memory, offset);
        } else if a.write && !a.order.is_strong() {
            self.messages.overwrite(key);
        } else if a.write
            && let Some(warp) = self.threads.of(a.who)
        {
            let clocks = published(warp, a);
            if a.order.atomic {
                self.counters.changes(a, key, (warp.id, warp.time), !clocks.is_empty());
            }
            // one that fails, as in vain at a lock, is not what others wait for
            if a.order.atomic && a.same && clocks.is_empty() {
                return;
            }
            self.messages.send(key, Issuer::of(warp, a), clocks, a.order);
        }
    }

    /// Strong loads of lanes, in their order, of which only some may find a message.
    pub(super) fn see_all(
        &mut self,
        a: &Access,
        some: u32,
        (memory, offset): (ShadowedMemory, u64),
        offsets: Offsets<'_>,
    ) {
        for (lanes, at) in offsets.each(a.who.lanes, offset).filter(|(lanes, _)| lanes & some != 0) {
            self.sees(&Access { who: Who { lanes, ..a.who }, ..*a }, memory, at);
        }
    }

    /// Relaxed stores of lanes that know the same, in their order.
    pub(super) fn send_all(&mut self, a: &Access, memory: ShadowedMemory, offset: u64, offsets: Offsets<'_>) {
        let Some(warp) = self.threads.of(a.who) else { return };
        let (clocks, issuer) = (warp.fenced(a.who.lanes.trailing_zeros() & 31), Issuer::of(warp, a));
        for (lanes, at) in offsets.each(a.who.lanes, offset) {
            self.messages.send((memory, at), Issuer { lanes, ..issuer }, clocks.clone(), a.order);
        }
    }

    /// A strong load of one lane.
    #[inline]
    fn sees(&mut self, a: &Access, memory: ShadowedMemory, offset: u64) {
        let Some(found) = self.messages.at((memory, offset)) else { return };
        let Some(id) = self.threads.of(a.who).map(|warp| warp.id) else { return };
        match found {
            Found::Relaxed(issuer) => {
                if let Some((events, why)) = issuer.missed(id) {
                    self.misses.remember(a.who, events, with_load(why, a), issuer.site);
                }
            }
            Found::Message(message) => {
                let seen = message.seen(id, a.order.scope);
                self.observes(a, seen);
            }
        }
    }

    /// A strong load sees this.
    pub(super) fn observes(&mut self, a: &Access, seen: Vec<Seen>) {
        let Some(warp) = self.threads.of(a.who) else { return };
        let lanes = a.who.lanes;
        for Seen { what, site } in seen {
            let (events, why) = match what {
                Observed::Released { clock, .. } if a.order.acquires() => {
                    warp.learn(lanes, &clock);
                    continue;
                }
                Observed::Released { clock, issuer } => {
                    warp.meet(lanes, &clock);
                    warp.observe(lanes, &clock, Some(issuer));
                    (Events::Known(clock), TooWeak::RelaxedLoad)
                }
                Observed::Missed { events, why } => (events, with_load(why, a)),
            };
            self.misses.remember(a.who, events, why, site);
        }
    }
}

/// Why a store, and this load, which may be relaxed too, do not synchronise.
fn with_load(why: TooWeak, load: &Access) -> TooWeak {
    if why == TooWeak::RelaxedStore && !load.order.acquires() { TooWeak::Relaxed } else { why }
}

/// The clocks that a strong store of one lane publishes.
pub(super) fn published(warp: &mut Warp, a: &Access) -> Fenced {
    let (lanes, order) = (a.who.lanes, a.order);
    let mut clocks = warp.fenced(lanes.trailing_zeros() & 31).clone();
    if order.releases() {
        let now = Rc::new(warp.publish(lanes).known);
        clocks.retain(|(scope, _)| *scope > order.scope);
        clocks.push((order.scope, now));
    }
    clocks
}
