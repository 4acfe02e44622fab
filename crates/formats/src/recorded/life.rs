//! The life of one object: found again at every GC by its identity.

use super::{Player, RecordedSeries, TraceSource, lock};
use crate::replay::Moment;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Identity, SpaceKind};

impl<S: TraceSource> RecordedSeries<S> {
    /// The life of an object that is alive at a point: its place at the end of every GC, and the GC that freed it.
    /// Replays the trace from its birth to its death.
    ///
    /// # Errors
    /// When the trace has become unreadable, or the work was cancelled.
    pub fn life(&self, of: Identity, progress: &Progress) -> Result<Lifetime> {
        let mut life = Lifetime { birth: of.birth, places: Vec::new(), death: None };
        let mut player: Option<Player<S::Decoder>> = None;
        for gc in of.birth..self.recording.collections.len() as u32 {
            progress.check()?;
            let until = Moment { gc, end: true };
            let player = player.get_or_insert_with(|| self.shared.player(until, &self.recording));
            if !player.play(until, progress)? {
                break;
            }
            match player.replay.place_of(of) {
                Some((address, space)) => life.places.push(ObjectPlace { gc, address, space }),
                None => {
                    life.death = Some(gc);
                    break;
                }
            }
        }
        *lock(&self.shared.player) = player;
        Ok(life)
    }
}

/// An object over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The first GC after its allocation, counted from 0.
    pub birth: u32,
    /// Where it was at the end of every GC it survived.
    pub places: Vec<ObjectPlace>,
    /// The GC that freed it, counted from 0; `None` when it outlived the trace.
    pub death: Option<u32>,
}

/// Where an object was at the end of a GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    /// The GC, counted from 0.
    pub gc: u32,
    /// Its address, where the trace tells it.
    pub address: Option<u64>,
    /// The kind of space.
    pub space: SpaceKind,
}
