//! RootPaths and cuts as the window finds them: the steps drawn in the city, the rows of the list, and the freed share of each group. Nothing
//! here waits or draws.

use crate::viewer::action::Action;
use crate::viewer::keys;
use memory_city_analysis::analyses::named_cut;
use memory_city_analysis::ownership::{Freed, GroupWays, PathEnd, RootStep, WayKind, WayQuestion, WayStep};
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_views::city::RouteStep;
use std::collections::HashMap;

/// Why documents without objects have no ways.
pub(super) fn no_objects() -> String {
    let key = keys::key(Action::FollowOwner);
    format!("The input has trees, not objects: there are no ways from roots. {key} goes from group to group")
}

/// Steps at most.
pub(super) const MOST_STEPS: usize = 40;

/// Default for the percentage of a group that must be reached through a step.
pub(super) const FIRST_SHARE: u64 = 5;

/// A cut: a step or a root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutChoice {
    /// All references from a step to the one below.
    Step(usize),
    /// A root, by its text.
    Root(String),
}

/// RootPaths found, with the data that the city needs.
pub struct FoundPaths {
    /// The ways.
    pub ways: GroupWays,
    /// The point in time.
    pub time: usize,
    /// Their steps as the city takes them.
    pub route: Vec<RouteStep>,
    /// The list, row by row: each step below the one that it holds.
    pub rows: Vec<(u32, PathRow)>,
}

/// A row of the list of ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRow {
    /// A step; the first is the group.
    Step(usize),
    /// A root of a step, by number.
    Root(usize, usize),
    /// Holders of a step that are not followed.
    LeftOut(usize),
    /// Why nothing is above a step.
    End(usize),
}

/// The memory freed without a step or a root of some ways, at their time.
///
/// # Errors
/// When the input cannot be read again, there is no such root, or the work was cancelled.
pub fn freed(source: &Source, found: &FoundPaths, choice: &CutChoice, progress: &Progress) -> Result<Freed> {
    let history = source
        .heaps()
        .ok_or_else(|| Error::Unusable { what: no_objects(), remedy: "Open heap dumps or a trace".into() })?;
    let rules = KeepRules::default();
    let cut = match choice {
        CutChoice::Step(at) if *at < found.ways.steps.len() => found.ways.cut(*at),
        CutChoice::Step(at) => {
            return Err(Error::Unusable {
                what: format!("There is no step {at} on these ways, which have {}", found.ways.steps.len()),
                remedy: "Choose a step of the list".into(),
            });
        }
        CutChoice::Root(text) => named_cut(history, found.time, rules, text, progress)?.0,
    };
    Freed::without(history, found.time, &cut, rules, progress)
}

/// The ways to some groups at a time, as the window finds them.
///
/// # Errors
/// When the input has no objects, cannot be read again, or the work was cancelled.
pub fn find(
    source: &Source,
    time: usize,
    nodes: &[NodeId],
    question: WayQuestion,
    progress: &Progress,
) -> Result<FoundPaths> {
    let history = source
        .heaps()
        .ok_or_else(|| Error::Unusable { what: no_objects(), remedy: "Open heap dumps or a trace".into() })?;
    let ways = GroupWays::find(history, time, nodes, question, progress)?;
    let mut route = Vec::with_capacity(ways.steps.len());
    for step in &ways.steps {
        let rooted = step.roots.iter().map(|root| ways.weight(root.reached, root.keeps)).fold(0.0, f32::max);
        let share = ways.weight(step.reached, step.keeps);
        route.push(RouteStep { below: step.below, node: step.node, share, rooted });
    }
    let rows = rows(&ways);
    Ok(FoundPaths { ways, time, route, rows })
}

/// The rows of the list, nested as the steps are: of one step those through which most is reached come first, roots and holders
/// alike. Nothing recurses.
fn rows(ways: &GroupWays) -> Vec<(u32, PathRow)> {
    let steps: &[WayStep] = &ways.steps;
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    (1..steps.len()).for_each(|at| above[steps[at].below].push(at));
    let mut rows = Vec::new();
    let mut open = vec![(0u32, PathRow::Step(0))];
    while let Some((depth, row)) = open.pop() {
        rows.push((depth, row));
        let PathRow::Step(at) = row else { continue };
        let step = &steps[at];
        if matches!(step.end, PathEnd::Nothing | PathEnd::NotFollowed) && step.reached.objects > 0 {
            open.push((depth + 1, PathRow::End(at)));
        }
        if step.left_out.0 > 0 {
            open.push((depth + 1, PathRow::LeftOut(at)));
        }
        let root = |(n, root): (usize, &RootStep)| (ways.weight(root.reached, root.keeps), PathRow::Root(at, n));
        let holder = |&next: &usize| (ways.weight(steps[next].reached, steps[next].keeps), PathRow::Step(next));
        let roots = step.roots.iter().enumerate().map(root);
        let mut all: Vec<(f32, PathRow)> = roots.chain(above[at].iter().map(holder)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        open.extend(all.into_iter().rev().map(|(_, row)| (depth + 1, row)));
    }
    rows
}

/// The question that is asked with the settings of a first start.
pub fn first_question() -> WayQuestion {
    WayQuestion { kind: WayKind::Interesting, share: FIRST_SHARE, most: MOST_STEPS, rules: KeepRules::default() }
}

/// By group, inner ones too: the part of its bytes that would be freed.
pub(super) fn shares(timeline: &Timeline, time: usize, freed: &Freed) -> HashMap<NodeId, f32> {
    let mut bytes: HashMap<NodeId, u64> = HashMap::new();
    for &(node, amount) in &freed.groups {
        for at in std::iter::successors(Some(node), |&n| timeline.parent(n)) {
            *bytes.entry(at).or_default() += amount.bytes;
        }
    }
    let share = |(node, bytes): (NodeId, u64)| {
        let all = timeline.amount(time, node).bytes.max(1);
        (node, (bytes as f64 / all as f64).min(1.0) as f32)
    };
    bytes.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::timeline::AUTO;
    use std::path::Path;

    /// On the sample: the drawn route passes only groups that hold an object of a step, in every grouping, and cutting a step frees the
    /// same as cutting its field.
    #[test]
    fn the_route_passes_groups_of_real_paths_and_a_cut_frees_what_its_field_does() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
        for grouping in [AUTO, "type", "owner", "package>type"] {
            let progress = Progress::new();
            let source = Source::open(std::slice::from_ref(&sample), grouping, Default::default(), &progress)
                .expect("the sample");
            let (timeline, history) = (source.timeline(), source.heaps().expect("dumps"));
            let time = timeline.times() - 1;
            let named = timeline.nodes().filter(|&n| timeline.name(n).ends_with("Person"));
            let node = named.max_by_key(|&n| timeline.amount(time, n).objects).expect("persons");
            let found = find(&source, time, &[node], first_question(), &progress).expect("ways");
            assert!(found.route.len() > 1, "{grouping}");
            for (at, step) in found.route.iter().enumerate() {
                let Some(of) = step.node else { continue };
                let here = history.objects_of(time, &[of], &progress).expect("objects").objects;
                assert!(found.ways.objects(at).iter().any(|o| here.contains(o.0)), "{grouping}: step {at}");
            }
            let item = found.ways.steps.iter().position(|step| step.text() == "java.util.LinkedList$Node.item");
            let item = CutChoice::Step(item.expect("nodes hold persons"));
            let by_step = freed(&source, &found, &item, &progress).expect("freed");
            let field = CutChoice::Root("java.util.LinkedList$Node.item".into());
            let by_field = freed(&source, &found, &field, &progress).expect("freed");
            // The field of all nodes; other lists may hold other things.
            assert!(by_step.total.objects <= by_field.total.objects && by_step.total.objects > 12_400, "{grouping}");
            let root = CutChoice::Root("Static field: register.store.PersonRegistry.PERSONS".into());
            let by_root = freed(&source, &found, &root, &progress).expect("freed");
            assert_eq!(by_root.total.objects, 6 * 12_400 + 1, "{grouping}");
            let sum: u64 = by_root.groups.iter().map(|(_, amount)| amount.bytes).sum();
            assert_eq!(sum + by_root.elsewhere.bytes, by_root.total.bytes, "{grouping}: each object in one group");
            let shares = shares(timeline, time, &by_root);
            assert!(shares.values().all(|share| (0.0..=1.0).contains(share)) && shares[&node] > 0.99, "{grouping}");
        }
    }
}
