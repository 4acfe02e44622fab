//! Class counts between the points in time, on their axis: a curve beside those of groups.
//!
//! May not: make points in time of it. Counts know no objects, and may include garbage; a view must label them.

use crate::timeline::{NodeId, Source, TimePoint, Timeline};
use memory_city_formats::counts::{ClassCounts, CountMoment, without_address};
use memory_city_heap::Amount;
use std::sync::Arc;

/// The class histograms of a run, where its points in time are heap states.
#[derive(Clone, Debug)]
pub struct CountsBetween {
    counts: Arc<ClassCounts>,
    /// The counts between points in time, with their positions: 2.5 is in the middle between the third and the fourth.
    places: Vec<(usize, f64)>,
    /// All classes together, by place.
    total: Vec<Amount>,
}

impl CountsBetween {
    /// The counts of a document; `None` without counts between its points. Linear in the counts.
    pub fn of(source: &Source) -> Option<CountsBetween> {
        if source.counts_beside() == 0 {
            return None;
        }
        CountsBetween::new(source.class_counts()?, source.timeline().points())
    }

    /// The counts between the first and the last of some points in time; `None` without any.
    pub fn new(counts: Arc<ClassCounts>, points: &[TimePoint]) -> Option<CountsBetween> {
        let moments = counts.moments.iter().enumerate();
        let places: Vec<_> = moments.filter_map(|(i, m)| Some((i, place(points, m.millis)?))).collect();
        if places.is_empty() {
            return None;
        }
        // What all classes have by moment, from what each has more or less than at the moment before.
        let mut steps = vec![(0i128, 0i128); counts.moments.len()];
        for course in &counts.classes {
            let mut before = Amount::default();
            for &(from, amount) in &course.changes {
                let Some(step) = steps.get_mut(from as usize) else { break };
                step.0 += i128::from(amount.objects) - i128::from(before.objects);
                step.1 += i128::from(amount.bytes) - i128::from(before.bytes);
                before = amount;
            }
        }
        let whole = |sum: i128| u64::try_from(sum.max(0)).unwrap_or(u64::MAX);
        let sums: Vec<Amount> = steps
            .into_iter()
            .scan((0i128, 0i128), |sum, step| {
                *sum = (sum.0 + step.0, sum.1 + step.1);
                Some(Amount { objects: whole(sum.0), bytes: whole(sum.1) })
            })
            .collect();
        let total = places.iter().map(|&(moment, _)| sums[moment]).collect();
        Some(CountsBetween { counts, places, total })
    }

    /// The number of counts.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Where a count is among the points in time.
    pub fn place(&self, count: usize) -> f64 {
        self.places[count].1
    }

    /// The title for people, with a warning about garbage among it.
    pub fn title(&self) -> &'static str {
        match self.counts.moments.iter().any(|moment| moment.with_garbage) {
            true => "class histograms between points in time, with garbage",
            false => "class histograms between points in time",
        }
    }

    /// The count that is nearest to a place among the points in time.
    pub fn nearest(&self, place: f64) -> usize {
        let after = self.places.partition_point(|&(_, at)| at < place).min(self.places.len() - 1);
        let before = after.saturating_sub(1);
        if place - self.place(before) < self.place(after) - place { before } else { after }
    }

    /// The moment of a count, with its facts.
    pub fn moment(&self, count: usize) -> CountMoment {
        self.counts.moments[self.places[count].0]
    }

    /// Objects and bytes of all classes together, by count.
    pub fn total(&self) -> &[Amount] {
        &self.total
    }

    /// Objects and bytes of a group, by count: of the whole heap, or of a class. `None` for any other, and for a class that was never
    /// counted: histograms have no sites, threads, ages or references.
    pub fn of_group(&self, timeline: &Timeline, node: NodeId) -> Option<Vec<Amount>> {
        if node == NodeId::ROOT {
            return Some(self.total.clone());
        }
        let class = class_of(timeline, node)?;
        let class = without_address(&class);
        let at = self.counts.classes.binary_search_by(|course| (*course.class).cmp(class)).ok()?;
        Some(self.places.iter().map(|&(moment, _)| self.counts.classes[at].at(moment)).collect())
    }
}

/// The class that a node is all of, with its package: on the way to it are packages and nothing else. `None` for any other node.
pub fn class_of(timeline: &Timeline, node: NodeId) -> Option<String> {
    let path = timeline.path(node);
    let (&last, above) = path.split_last()?;
    let above = above.iter().filter(|&&n| n != NodeId::ROOT);
    if timeline.role(last) != "Type" || above.clone().any(|&n| timeline.role(n) != "Package") {
        return None;
    }
    let name = timeline.name(last);
    // What is in brackets is no package, `(primitive arrays)`, `(default package)`: it says that there is none.
    let packages = above.map(|&n| timeline.name(n)).filter(|name| !name.starts_with('('));
    let package = packages.collect::<Vec<_>>().join(".");
    // Below packages classes may be named with or without them.
    let is_whole = package.is_empty() || name.strip_prefix(&*package).is_some_and(|rest| rest.starts_with('.'));
    Some(if is_whole { name.to_owned() } else { format!("{package}.{name}") })
}

/// Where a time is among points in time; `None` before the first and after the last.
fn place(points: &[TimePoint], millis: u64) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    if millis < first.millis || millis > last.millis {
        return None;
    }
    let after = points.partition_point(|point| point.millis <= millis).clamp(1, points.len().max(2) - 1);
    let (from, to) = (points[after - 1].millis, points.get(after).map_or(millis, |point| point.millis));
    Some((after - 1) as f64 + millis.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use memory_city_formats::counts::CountCourse;
    use proptest::prelude::*;

    fn points(millis: &[u64]) -> Vec<TimePoint> {
        millis.iter().map(|&millis| TimePoint { millis, ..TimePoint::default() }).collect()
    }

    fn amount(objects: u64) -> Amount {
        Amount { objects, bytes: 16 * objects }
    }

    fn counts(millis: &[u64], classes: &[(&str, &[(u32, u64)])]) -> Arc<ClassCounts> {
        let moments = millis.iter().map(|&millis| CountMoment { millis, ..CountMoment::default() }).collect();
        let course = |(class, changes): &(&str, &[(u32, u64)])| CountCourse {
            class: Arc::from(*class),
            changes: changes.iter().map(|&(from, objects)| (from, amount(objects))).collect(),
        };
        let classes = classes.iter().map(course).collect();
        Arc::new(ClassCounts { moments, classes, ..ClassCounts::default() })
    }

    #[test]
    fn counts_lie_between_the_points_around_them() {
        let between = counts(&[5, 10, 15, 20, 25, 40, 41], &[("a.B", &[(0, 2), (3, 5)])]);
        let between = CountsBetween::new(between, &points(&[10, 20, 40])).expect("counts");
        let places: Vec<f64> = (0..between.len()).map(|i| between.place(i)).collect();
        assert_eq!(places, [0.0, 0.5, 1.0, 1.25, 2.0]);
        assert_eq!(between.total().iter().map(|a| a.objects).collect::<Vec<_>>(), [2, 2, 5, 5, 5]);
        assert_eq!(between.moment(4).millis, 40);
        let nearest = [-1.0, 0.2, 0.3, 1.1, 1.2, 1.7, 9.0].map(|place| between.nearest(place));
        assert_eq!(nearest, [0, 0, 1, 2, 3, 4, 4]);
        assert!(!between.title().contains("garbage"));
        assert!(CountsBetween::new(counts(&[5, 41], &[]), &points(&[10, 20])).is_none());
        assert!(CountsBetween::new(counts(&[10], &[]), &points(&[])).is_none());
        assert_eq!(CountsBetween::new(counts(&[10], &[]), &points(&[10])).map(|b| b.place(0)), Some(0.0));
    }

    #[test]
    fn classes_have_a_course_and_parts_of_them_have_none() {
        let mut tree = MemoryTree::new();
        let mut add = |path: &[(&str, &str)]| {
            let mut at = 0;
            for (role, name) in path {
                at = tree.child(at, &Arc::from(*role), &Arc::from(*name));
            }
            tree.add_up(&[at as u32], amount(1));
        };
        add(&[("Package", "java.util"), ("Type", "HashMap"), ("Allocation site", "x.Y.z line 3")]);
        add(&[("Package", "shop"), ("Type", "Cart$$Lambda/0x00a1.2")]);
        add(&[("Type", "byte[]")]);
        add(&[("Package", "(primitive arrays)"), ("Type", "int[]")]);
        add(&[("Package", "(default package)"), ("Type", "Main")]);
        add(&[("Thread", "main"), ("Type", "byte[]")]);
        let timeline = Timeline::from_trees(points(&[0, 10]), &[tree.clone(), tree]);
        let classes: [(&str, &[(u32, u64)]); 5] = [
            ("Main", &[(0, 2)]),
            ("byte[]", &[(0, 7)]),
            ("int[]", &[(0, 3)]),
            ("java.util.HashMap", &[(1, 9)]),
            ("shop.Cart$$Lambda", &[(0, 1)]),
        ];
        let between = CountsBetween::new(counts(&[0, 5], &classes), timeline.points()).expect("counts");
        let course = |key: &str| {
            let node = timeline.find(key).unwrap_or_else(|| panic!("{key}"));
            between.of_group(&timeline, node).map(|course| course.iter().map(|a| a.objects).collect::<Vec<_>>())
        };
        let root = timeline.key(NodeId::ROOT);
        assert_eq!(course(&root), Some(vec![13, 22]));
        assert_eq!(course(&format!("{root}#java.util#HashMap")), Some(vec![0, 9]));
        assert_eq!(course(&format!("{root}#shop#Cart$$Lambda/0x00a1.2")), Some(vec![1, 1]));
        assert_eq!(course(&format!("{root}#byte[]")), Some(vec![7, 7]));
        assert_eq!(course(&format!("{root}#(primitive arrays)#int[]")), Some(vec![3, 3]), "that is no package");
        assert_eq!(course(&format!("{root}#(default package)#Main")), Some(vec![2, 2]));
        for part in ["java.util", "java.util#HashMap#x.Y.z line 3", "main#byte[]"] {
            assert_eq!(course(&format!("{root}#{part}")), None, "{part}");
        }
    }

    proptest! {
        #[test]
        fn all_classes_together_are_the_sum_of_each(
            courses in prop::collection::vec(prop::collection::btree_map(0u32..9, 0u64..50, 0..6), 0..8),
        ) {
            let named: Vec<(String, Vec<(u32, u64)>)> =
                courses.iter().enumerate().map(|(i, of)| (format!("c{i}"), of.iter().map(|(&a, &b)| (a, b)).collect())).collect();
            let classes: Vec<(&str, &[(u32, u64)])> = named.iter().map(|(name, of)| (name.as_str(), of.as_slice())).collect();
            let counts = counts(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &classes);
            let between = CountsBetween::new(Arc::clone(&counts), &points(&[0, 8])).expect("counts");
            for moment in 0..9 {
                let naive: u64 = counts.classes.iter().map(|course| course.at(moment).objects).sum();
                prop_assert_eq!(between.total()[moment], amount(naive));
            }
        }
    }
}
