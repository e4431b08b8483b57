//! Weak memory: which stores a strong load may read from ([`Host::weak`](crate::api::host::Host::weak)).
//!
//! Each place that strong accesses use has its stores in coherence order. A thread knows a store that has happened before it, or from
//! which a load has read that has happened before it. A load reads from the last store that its thread knows, or from one after it; a
//! store comes after all that its thread knows (Causality and SC-per-Location, 8.10). Nothing comes between an atomic operation and
//! the store from which it has read (Atomicity).
//!
//! A load reads only from stores that were executed before it. So executions are left out in which two loads of different threads read
//! from stores that follow the other load in program order (load buffering).

use super::Checked;
use super::actor::Actor;
use super::exchange::published;
use super::messages::{Issuer, Message};
use super::shadow::ShadowedMemory;
use super::threads::{Fenced, Warp, join_fenced};
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Who};
use crate::observe::probe::weak::{Bytes, WeakMemory};
use rustc_hash::{FxHashMap, FxHashSet};

/// A memory and an offset.
type LocationKey = (ShadowedMemory, u64);

/// A lane of a warp, and when it has accessed a place.
#[derive(Debug, Clone, Copy)]
struct StoreEvent {
    warp: Actor,
    lanes: u32,
    time: u32,
}

impl StoreEvent {
    fn of(warp: &mut Warp, who: Who) -> StoreEvent {
        StoreEvent { warp: warp.id, lanes: who.lanes, time: warp.event() }
    }

    fn is_of(&self, warp: Actor, lanes: u32) -> bool {
        (self.warp, self.lanes) == (warp, lanes)
    }
}

/// A store to a place.
#[derive(Debug)]
struct Store {
    /// The number of the store in the launch.
    serial: u32,
    value: Bytes,
    /// The message that loads observe; none for the bytes that were there first.
    message: Option<Message>,
    /// Whether the store has read the store before it.
    atomic: bool,
    /// The store itself, and the first load of each thread that has read from it: who knows a later one knows that one.
    events: Vec<StoreEvent>,
}

/// The stores to a place.
#[derive(Debug)]
struct Location {
    bytes: u32,
    /// The stores in coherence order.
    stores: Vec<Store>,
    /// The clocks that each thread that has stored here has published here.
    own: FxHashMap<(Actor, u32), Fenced>,
}

impl Location {
    /// The last store that the thread knows.
    fn known(&self, warp: &Warp, lanes: u32) -> usize {
        let lane = lanes.trailing_zeros() & 31;
        let knows = |e: &StoreEvent| e.is_of(warp.id, lanes) || warp.knows(lane, e.warp, e.lanes, e.time);
        self.stores.iter().rposition(|store| store.events.iter().any(knows)).unwrap_or(0)
    }

    /// May a store come directly after this one?
    fn has_room_behind(&self, i: usize) -> bool {
        self.stores.get(i + 1).is_none_or(|next| !next.atomic)
    }
}

/// The places of a launch.
#[derive(Debug, Default)]
pub(super) struct Weak {
    locations: FxHashMap<LocationKey, Location>,
    serial: u32,
    /// Outdated stores that threads have read, by statement. A thread reads each only once there, so that loops end.
    outdated: FxHashSet<(Actor, u32, u32, u32)>,
    /// The choices of the access to come.
    choices: Vec<usize>,
    /// The store that an atomic operation has read.
    read: Option<(LocationKey, u32)>,
    /// Messages from which relaxed loads have read, with their stores, by thread and place: a later acquire there synchronises with them.
    relaxed: FxHashMap<(Actor, u32, LocationKey), Vec<(u32, Message)>>,
}

impl Weak {
    pub fn start(&mut self, slot: u32) {
        let stays = |memory: &ShadowedMemory| !matches!(memory, ShadowedMemory::Shared { slot: s, .. } if *s == slot);
        self.locations.retain(|(memory, _), _| stays(memory));
        self.relaxed.retain(|(_, _, (memory, _)), _| stays(memory));
    }

    /// Makes the value in memory of these bytes that of all threads: another access than a strong one of a whole location orders
    /// them, or races.
    pub fn forget(&mut self, memory: ShadowedMemory, from: u64, bytes: u32, except: Option<LocationKey>) {
        self.locations.retain(|key, location| {
            let apart = key.1 >= from + u64::from(bytes) || from >= key.1 + u64::from(location.bytes);
            key.0 != memory || apart || Some(*key) == except && location.bytes == bytes
        });
    }

    fn next(&mut self) -> u32 {
        self.serial += 1;
        self.serial
    }
}

/// The place of an access to memory that threads share.
fn key(a: &Access) -> Option<LocationKey> {
    match a.place {
        Place::Shared { rank, offset } => Some((ShadowedMemory::Shared { slot: a.who.slot, rank }, offset.into())),
        Place::Global { segment, offset } => Some((ShadowedMemory::Global { segment }, offset)),
        Place::Local { .. } | Place::Const { .. } | Place::Param { .. } => None,
    }
}

impl WeakMemory for Checked {
    fn choices(&mut self, a: &Access, latest: Bytes) -> usize {
        let (Some(key), Some(weak), Some(warp)) = (key(a), &mut self.weak, self.threads.of(a.who)) else { return 1 };
        weak.forget(key.0, key.1, a.bytes, Some(key));
        let serial = weak.next();
        let first = || {
            let first = Store { serial, value: latest, message: None, atomic: false, events: Vec::new() };
            Location { bytes: a.bytes, stores: vec![first], own: FxHashMap::default() }
        };
        let location = weak.locations.entry(key).or_insert_with(first);
        if location.stores.last().is_none_or(|store| store.value != latest) {
            // something else than these accesses has changed it
            *location = first();
        }
        let last = location.stores.len() - 1;
        let (id, lanes) = (warp.id, a.who.lanes);
        let from = location.known(warp, lanes);
        let once = |i: &usize| !weak.outdated.contains(&(id, lanes, a.who.site, location.stores[*i].serial));
        let read =
            weak.read.take_if(|_| a.write && a.order.atomic).filter(|(of, _)| *of == key).map(|(_, serial)| serial);
        weak.choices = match (a.write, read) {
            (true, Some(serial)) => location.stores.iter().rposition(|s| s.serial == serial).into_iter().collect(),
            (true, None) => (from..=last).rev().filter(|i| location.has_room_behind(*i)).collect(),
            (false, _) => (from..=last)
                .rev()
                .filter(|i| *i == last || once(i) && (!a.order.atomic || location.has_room_behind(*i)))
                .collect(),
        };
        weak.choices.len()
    }

    fn load(&mut self, a: &Access, choice: usize) -> (Bytes, bool) {
        let (Some(key), Some(weak), Some(warp)) = (key(a), &mut self.weak, self.threads.of(a.who)) else {
            return ([0; 4], false);
        };
        let (id, lanes, scope) = (warp.id, a.who.lanes, a.order.scope);
        let (Some(i), Some(location)) = (weak.choices.get(choice), weak.locations.get_mut(&key)) else {
            return ([0; 4], false);
        };
        let outdated = i + 1 < location.stores.len();
        let store = &mut location.stores[*i];
        let event = StoreEvent::of(warp, a.who);
        if !store.events.iter().any(|e| e.is_of(id, lanes)) {
            store.events.push(event);
        }
        if outdated {
            weak.outdated.insert((id, lanes, a.who.site, store.serial));
        }
        if a.order.atomic {
            weak.read = Some((key, store.serial));
        }
        let value = store.value;
        let mut seen = store.message.as_ref().map_or(Vec::new(), |message| message.seen(id, scope));
        let before = weak.relaxed.entry((id, lanes, key)).or_default();
        if a.order.acquires() {
            seen.extend(before.drain(..).flat_map(|(_, message)| message.seen(id, scope)));
        } else if before.last().is_none_or(|(serial, _)| *serial != store.serial) {
            before.extend(store.message.clone().map(|message| (store.serial, message)));
        }
        self.observes(a, seen);
        (value, outdated)
    }

    fn store(&mut self, a: &Access, value: Bytes, choice: usize) -> bool {
        let (Some(key), Some(weak), Some(warp)) = (key(a), &mut self.weak, self.threads.of(a.who)) else { return true };
        let serial = weak.next();
        let (Some(i), Some(location)) = (weak.choices.get(choice), weak.locations.get_mut(&key)) else { return true };
        let event = StoreEvent::of(warp, a.who);
        let issuer = Issuer::of(warp, a);
        let mut own = published(warp, a);
        // a release is followed by all that its thread stores there
        let earlier = location.own.entry((event.warp, event.lanes)).or_default();
        join_fenced(&mut own, earlier);
        earlier.clone_from(&own);
        let before = location.stores[*i].message.clone().filter(|_| a.order.atomic);
        let mut message = before.unwrap_or_else(|| Message::new(issuer));
        message.publish(issuer, own, a.order.atomic);
        let atomic = a.order.atomic;
        let store = Store { serial, value, message: Some(message), atomic, events: vec![event] };
        location.stores.insert(i + 1, store);
        i + 2 == location.stores.len()
    }
}
