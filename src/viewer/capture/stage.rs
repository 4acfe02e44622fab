//! Preparation of the viewer for a picture: time, marks, search, selection, ways. Draws nothing.

use super::Shot;
use crate::viewer::clock::Clock;
use crate::viewer::dock::Dock;
use crate::viewer::document::OpenDocument;
use crate::viewer::finding::LeakSearch;
use crate::viewer::owners::{OwnersOf, owners_of};
use crate::viewer::references::References;
use crate::viewer::root_paths::{self, CutChoice, RootPaths, SavedPaths};
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Marks, Selection, SharedFilter};
use crate::viewer::sites::SitesOf;
use crate::viewer::view::Views;
use bevy::prelude::*;
use memory_city_analysis::analyses::sampled_shares;
use memory_city_analysis::timeline::{Metric, NodeId};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// Sets up the viewer for a picture.
///
/// # Errors
/// When there is no such time, group or metric, or the search text is wrong.
pub(super) fn stage(world: &mut World, open: &OpenDocument, shot: &Shot) -> Result<()> {
    let last = open.timeline.times().saturating_sub(1);
    let time = shot.time.unwrap_or(last);
    if time > last {
        return Err(Error::Unusable {
            what: format!("There is no point in time {}: the input has {}", time + 1, last + 1),
            remedy: format!("Give --time a number from 1 to {}", last + 1),
        });
    }
    let beyond = [(shot.settings.base, "--base"), (shot.settings.window.map(|w| w.1), "--window")];
    if let Some((given, option)) = beyond.iter().find_map(|(t, option)| t.filter(|t| *t > last).map(|t| (t, option))) {
        return Err(Error::Unusable {
            what: format!("There is no point in time {}: the input has {}", given + 1, last + 1),
            remedy: format!("Give {option} numbers from 1 to {}", last + 1),
        });
    }
    world.resource_mut::<Clock>().jump(time);
    world.resource_mut::<SharedFilter>().0.clone_from(&shot.with.filter);
    world.resource_mut::<Marks>().replace(&open.timeline, shot.with.marks.clone());
    if let Some(id) = shot.settings.trends.metric.as_deref()
        && open.timeline.metric(id).is_none()
        && open.source.heaps().is_none()
    {
        return Err(Error::Unusable {
            what: format!("The metric {id} cannot be found: the input has trees, not objects"),
            remedy: "Open heap dumps or a memory trace, or a tree that brings this metric along".into(),
        });
    }
    let metric = shot.settings.metric_in(&open.timeline);
    let looked_for = world.resource_mut::<GroupSearch>().preset(&open.timeline, time, metric, &shot.with.filter);
    looked_for.map_err(|why| Error::Unusable {
        what: format!("Nothing can be looked for with this filter: {why}"),
        remedy: "Give a part of a name, a glob, or an expression such as 'bytes > 1MB'".into(),
    })?;
    let mut picture = shot.settings.clone();
    // What the trees were made with cannot change here.
    picture.objects = open.made_with.objects;
    picture.grouping.clone_from(&open.made_with.grouping);
    world.insert_resource(picture);
    select(world, open, shot, time)
}

/// Selects groups, with their references at a point in time.
pub(super) fn select(world: &mut World, open: &OpenDocument, shot: &Shot, time: usize) -> Result<()> {
    let mut references = References::default();
    world.resource_mut::<SitesOf>().preset(None);
    world.resource_mut::<Selection>().clear();
    let find = |key: &String| {
        open.find(key).ok_or_else(|| Error::Unusable {
            what: format!("There is no group {key}"),
            remedy: format!("Give --select a key or a name, such as {}", example_key(open)),
        })
    };
    let nodes: Vec<NodeId> = shot.select.iter().map(find).collect::<Result<_>>()?;
    let progress = Progress::new();
    let (mut owners, mut ways) = (OwnersOf::default(), RootPaths::default());
    if open.source.heaps().is_some() && !nodes.is_empty() && shot.panels {
        let by_bytes = shot.settings.metric_in(&open.timeline) != Metric::Objects;
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        owners.preset(owners_of(&open.source, time, &sorted, by_bytes, &progress)?);
        let shares = sampled_shares(&open.source, nodes[0], time, &progress)?;
        world.resource_mut::<SitesOf>().preset(shares);
    }
    // Those of a view file lead to groups of their own.
    let kept = shot.with.ways.as_ref().filter(|_| open.source.heaps().is_some());
    let subject = match kept {
        Some(kept) => kept.groups.iter().map(find).collect::<Result<Vec<_>>>()?,
        None if open.source.heaps().is_some() && (shot.paths || shot.cut.is_some()) => nodes.clone(),
        None => Vec::new(),
    };
    if !subject.is_empty() {
        let question = kept.map_or_else(root_paths::first_question, SavedPaths::question);
        let found = root_paths::find(&open.source, time, &subject, question, &progress)?;
        ways.preset(&open.timeline, subject, found);
        let cut = kept.map_or_else(|| shot.cut.clone().map(CutChoice::Root), |kept| kept.cut.clone());
        if let (Some(choice), Some(found)) = (cut, ways.found().cloned()) {
            let freed = root_paths::freed(&open.source, &found, &choice, &progress)?;
            ways.preset_cut(&open.timeline, time, choice, freed);
        }
    }
    if shot.panels {
        let mut finding = LeakSearch::default();
        finding.preset(&open.source, !nodes.is_empty(), &progress)?;
        world.insert_resource(finding);
        // Each picture as if it were the first.
        let views = world.resource::<Views>().clone();
        world.resource_mut::<Dock>().reset(&views);
    }
    world.insert_resource(owners);
    world.insert_resource(ways);
    if let Some(&node) = nodes.first() {
        world.resource_mut::<Selection>().select_all(&open.timeline, nodes);
        references.preset(time, node, open.source.references(time, node, &Progress::new())?);
    }
    world.insert_resource(references);
    Ok(())
}

fn example_key(open: &OpenDocument) -> String {
    let metric = open.made_with.metric_in(&open.timeline);
    memory_city_analysis::analyses::top_growing(&open.timeline, metric, 1)
        .first()
        .map(|&n| open.timeline.key(n))
        .unwrap_or_else(|| "Heap".to_owned())
}
