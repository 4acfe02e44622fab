//! Allocation sites of the selection's class, estimated from the samples of a recording: found off the frame. Walks give the exact amount
//! of a class, samples the share of each site: the two are shown beside each other, never added.

use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::selection::Selection;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use memory_city_analysis::analyses::{SampledShares, sampled_shares};
use memory_city_analysis::timeline::NodeId;
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// Time and group.
type SiteQuestion = (usize, NodeId);
type SiteAnswer = Result<Option<SampledShares>>;

/// The allocation sites of the selection.
#[derive(Resource, Default)]
pub struct SitesOf {
    job: Option<(SiteQuestion, Job<SiteAnswer>)>,
    /// The last answer; nothing where there are no samples or they could not be read.
    known: Option<(SiteQuestion, Option<Arc<SampledShares>>)>,
    /// Brought by a picture, which asks for nothing.
    given: Option<Arc<SampledShares>>,
}

impl SitesOf {
    /// Shares of a group at a time, once they are known.
    pub fn of(&self, time: usize, node: NodeId) -> Option<&Arc<SampledShares>> {
        let known = self.known.as_ref().filter(|(of, _)| *of == (time, node));
        self.given.as_ref().or(known.and_then(|(_, shares)| shares.as_ref()))
    }

    /// Shows shares found elsewhere, for pictures without a window.
    pub fn preset(&mut self, found: Option<SampledShares>) {
        self.given = found.map(Arc::new);
    }
}

fn update(
    document: Res<Document>,
    (clock, selection): (Res<Clock>, Res<Selection>),
    mut sites: ResMut<SitesOf>,
    windows: Query<(), With<PrimaryWindow>>,
    mut awake: ResMut<Awake>,
) {
    let sites = &mut *sites;
    let Some(open) = document.get().filter(|_| !windows.is_empty()) else { return };
    if let Some((of, job)) = &sites.job {
        awake.wait_if(true);
        if let Some(outcome) = job.poll() {
            let of = *of;
            sites.job = None;
            match outcome {
                Ok(Ok(shares)) => {
                    let first = shares.as_ref().and_then(|shares| shares.places.first());
                    tracing::debug!("allocated: {}", first.map_or("not known", |share| &share.place));
                    sites.known = Some((of, shares.map(Arc::new)));
                }
                Ok(Err(Error::Cancelled)) => {}
                Ok(Err(error)) => {
                    tracing::warn!("allocation sites cannot be read: {error}");
                    sites.known = Some((of, None));
                }
                Err(panic) => {
                    tracing::error!("allocation sites: {panic}");
                    sites.known = Some((of, None));
                }
            }
        }
    }
    let sampled = open.source.may_have_samples();
    let Some(node) = selection.node().filter(|_| sampled) else {
        sites.job = None;
        return;
    };
    let now = (clock.time, node);
    let is_known = sites.known.as_ref().is_some_and(|(of, _)| *of == now);
    if is_known || clock.moving() || sites.job.as_ref().is_some_and(|(of, _)| *of == now) {
        return;
    }
    let source = Arc::clone(&open.source);
    let work = move |progress: &_| sampled_shares(&source, node, now.0, progress);
    sites.job = Some((now, Job::behind_frames(work)));
    awake.keep_if(true);
}

/// Allocation sites of the selection.
pub struct SitesPlugin;

impl Plugin for SitesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SitesOf>()
            .add_observer(|_: On<Opened>, mut sites: ResMut<SitesOf>| *sites = SitesOf::default())
            .add_observer(|_: On<Grew>, mut sites: ResMut<SitesOf>| *sites = SitesOf::default())
            .add_observer(|_: On<Closed>, mut sites: ResMut<SitesOf>| *sites = SitesOf::default())
            .add_systems(Update, update.in_set(Stage::Derive));
    }
}
