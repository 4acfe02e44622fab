//! A growing recording under a grouping: trees that were built stay, and only new walks are read.

use super::builder::TimelineBuilder;
use super::choice::{asked, choose, with_wanted};
use super::history::History;
use super::kept_amounts::KeptAmounts;
use super::sampled_part::SampledPart;
use super::trees::{TimeTree, point_of, points_of_interest, trees_of};
use crate::group::{GroupOptions, Grouping, tell_packages};
use memory_city_formats::wire::{RecordingFolder, is_of_its_end};
use memory_city_formats::{HeapSeries, PointNumber};
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::sync::{Arc, Mutex};

/// The state that a history needs to go on.
pub(super) struct Following {
    pub recording: RecordingFolder,
    trees: Mutex<FollowedTrees>,
}

/// The trees of all walks that were read.
#[derive(Default)]
struct FollowedTrees {
    builder: TimelineBuilder,
    walks: Vec<FollowedWalk>,
}

/// A walk whose tree is there.
struct FollowedWalk {
    number: PointNumber,
    /// The unreachable amount there.
    unreachable: Amount,
    sampled: Option<SampledPart>,
}

impl FollowedTrees {
    /// The number of first walks that are gone from a recording that has these now; `None` if it does not continue the one read before.
    fn gone(&self, numbers: &[PointNumber]) -> Option<usize> {
        let gone = self.walks.iter().position(|walk| Some(&walk.number) == numbers.first())?;
        let stays = &self.walks[gone..];
        let is_same =
            stays.len() <= numbers.len() && stays.iter().zip(numbers).all(|(known, now)| known.number == *now);
        is_same.then_some(gone)
    }
}

impl History {
    /// The walks of a recording that may go on, under a grouping as in [`History::build`]: [`History::grown`] adds those that come.
    ///
    /// # Errors
    /// As [`History::build`]; when the folder holds another recording.
    pub fn follow(
        recording: &RecordingFolder,
        grouping: &str,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<History> {
        let series: Arc<dyn HeapSeries> = Arc::from(recording.open(progress)?);
        tell_packages(series.own_packages());
        let grouping = choose(&*series, &asked(grouping)?)?;
        let following = Following { recording: recording.clone(), trees: Mutex::default() };
        History::followed(series, grouping, options, Arc::new(following), progress)
    }

    /// The recording that is followed.
    pub fn followed_recording(&self) -> Option<&RecordingFolder> {
        self.following.as_deref().map(|following| &following.recording)
    }

    /// The same with new walks; `None` without any, or if nothing is followed. Reads the data beside walks once more, and of the walks only
    /// new ones. Walks that the recording has dropped go here too.
    ///
    /// # Errors
    /// As [`History::follow`]. Everything read before stays valid.
    pub fn grown(&self, progress: &Progress) -> Result<Option<History>> {
        let Some(following) = &self.following else { return Ok(None) };
        let series: Arc<dyn HeapSeries> = Arc::from(following.recording.open(progress)?);
        if numbers(&*series) == numbers(&**self.series()) {
            return Ok(None);
        }
        let mut grown =
            History::followed(series, Arc::clone(self.grouping()), self.options(), Arc::clone(following), progress)?;
        grown.known = grown.known.or(self.known);
        *grown.kept_amounts() = self.amounts_in(&grown);
        Ok(Some(grown))
    }

    fn followed(
        series: Arc<dyn HeapSeries>,
        grouping: Arc<Grouping>,
        options: GroupOptions,
        following: Arc<Following>,
        progress: &Progress,
    ) -> Result<History> {
        let options = with_wanted(options, &grouping);
        let points = points_of_interest(&*series, options);
        let numbers = numbers(&*series).filter(|_| series.recording().is_none()).ok_or_else(|| Error::Unusable {
            what: format!("{} has no complete walk yet", following.recording.folder.display()),
            remedy: "Try again when the next walk is done".into(),
        })?;
        let numbers: Vec<PointNumber> = points.iter().map(|&point| numbers[point]).collect();
        let mut trees = following.trees.lock().unwrap_or_else(|e| e.into_inner());
        let gone = trees.gone(&numbers);
        let read = gone.map_or(0, |gone| trees.walks.len() - gone);
        let (found, last) = trees_of(&*series, &grouping, options, &points[read..], None, progress)?;
        // From here on nothing fails: the trees of all walks are there, or none of the new ones.
        match gone {
            None => *trees = FollowedTrees::default(),
            Some(0) => {}
            Some(gone) => {
                trees.builder.forget(gone);
                trees.walks.drain(..gone);
            }
        }
        let known = found.last().filter(|tree| !tree.is_empty).map(|tree| tree.known);
        for (tree, at) in found.iter().zip(read..) {
            let TimeTree { tree, unreachable, sampled, .. } = tree;
            trees.builder.add(point_of(&series.points()[points[at]], *unreachable, *sampled), tree);
            trees.walks.push(FollowedWalk { number: numbers[at], unreachable: *unreachable, sampled: *sampled });
        }
        // What is said of a walk may depend on all: whether times count from the start of the program.
        let said = points.iter().zip(&trees.walks);
        let said = said.map(|(&point, walk)| point_of(&series.points()[point], walk.unreachable, walk.sampled));
        let said = said.collect();
        trees.builder.points = said;
        let timeline = trees.builder.copy().finish().with_profile(series.profile());
        drop(trees);
        Ok(History::of_timeline(series, (grouping, options), timeline, points, (last, known), Some(following)))
    }

    /// True for a warning about every growing recording: it has no end yet, and there may be half a walk behind the last.
    pub(super) fn is_of_its_end(&self, warning: &Warning) -> bool {
        let last = self.series().points().len().checked_sub(1).and_then(|last| self.series().number(last));
        let next = last.map(|(_, walk)| format!("walk {} was broken off, ", u64::from(walk) + 1));
        is_of_its_end(warning) || next.is_some_and(|next| warning.message.starts_with(&next))
    }

    /// The cached amounts, renumbered for a history that continues this one: its nodes have other numbers, and so have its times if the
    /// first ones are gone.
    fn amounts_in(&self, grown: &History) -> KeptAmounts {
        let (Some(before), Some(now)) = (numbers(&**self.series()), numbers(&**grown.series())) else {
            return KeptAmounts::default();
        };
        let number = |time: usize| before.get(self.moment(time));
        let time_of = |time: usize| {
            let point = now.iter().position(|n| Some(n) == number(time))?;
            (0..grown.timeline().times()).find(|&t| grown.moment(t) == point)
        };
        self.kept_amounts().moved((self.timeline(), grown.timeline()), &time_of)
    }
}

/// The numbers of all points; `None` where one has none.
fn numbers(series: &dyn HeapSeries) -> Option<Vec<PointNumber>> {
    (0..series.points().len()).map(|point| series.number(point)).collect()
}
