//! Labels of boxes and arrows.

use super::{BoxShape, GraphItem, GraphLink, GraphTint};
use memory_city_analysis::object_graph::{GraphBox, GraphRoot, GroupGraph, HeldOver};
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text, several};

pub(super) fn tint(graph: &GroupGraph, kinds: &[&str], item: GraphItem) -> GraphTint {
    match item {
        GraphItem::Box(b) => match &graph.boxes[b] {
            of if of.is_selected => GraphTint::Selected,
            of if of.other > 0 => GraphTint::Other,
            of if of.groups.is_empty() => GraphTint::NoGroup,
            _ => GraphTint::Group,
        },
        // Inputs of trees have kinds as their program writes them.
        GraphItem::Roots(k) => match kinds[k] {
            "Static field" => GraphTint::StaticRoot,
            "Local variable" | "Monitor" | "Thread" => GraphTint::ThreadRoot,
            _ => GraphTint::OtherRoot,
        },
    }
}

/// `a of b objects`, or `all b`.
fn part(n: u64, of: u64) -> String {
    match n == of {
        true => format!("all {}", count_text(of)),
        false => format!("{} of {}", count_text(n), count_text(of)),
    }
}

pub(super) fn of_item(
    graph: &GroupGraph,
    kinds: &[&str],
    held: Option<&HeldOver>,
    item: GraphItem,
    shape: BoxShape,
) -> BoxShape {
    match item {
        GraphItem::Box(b) => of_box(&graph.boxes[b], b, held, shape),
        GraphItem::Roots(k) => {
            let roots: Vec<&GraphRoot> = graph.roots.iter().filter(|root| root.kind == kinds[k]).collect();
            of_roots(&roots, kinds[k], shape)
        }
    }
}

fn of_box(of: &GraphBox, place: usize, held: Option<&HeldOver>, shape: BoxShape) -> BoxShape {
    let line = format!("{}, {}", objects_text(of.amount.objects), bytes_text(of.amount.bytes));
    let mut details = vec![of.name.clone(), line.clone()];
    let mut say = |n: u64, what: &str| {
        if n > 0 {
            details.push(format!("{} {what}", several(n, "reference", "references")));
        }
    };
    say(of.internal, "among them");
    say(of.before, "from objects that are not shown");
    say(of.beyond, "to objects that are not shown");
    if held.is_some_and(|held| held.focus == place) {
        details.push("Arrows say how many of these are held over them".to_owned());
    }
    BoxShape { title: of.name.clone(), line, details, ..shape }
}

/// How many places a tooltip names.
const PLACES: usize = 8;

fn of_roots(roots: &[&GraphRoot], kind: &str, shape: BoxShape) -> BoxShape {
    let all: u64 = roots.iter().map(|root| root.roots).sum();
    let line = several(all, "GC root", "GC roots");
    let mut details = vec![kind.to_owned(), line.clone()];
    let mut places: Vec<&(String, u64)> = roots.iter().flat_map(|root| &root.places).collect();
    places.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    details.extend(places.iter().take(PLACES).map(|(text, n)| place_line(text, *n)));
    if places.len() > PLACES {
        details.push(format!("and {} more", count_text((places.len() - PLACES) as u64)));
    }
    BoxShape { title: kind.to_owned(), line, details, ..shape }
}

fn place_line(text: &str, n: u64) -> String {
    let text = text.trim_end_matches(": ");
    if n == 1 { text.to_owned() } else { format!("{text} (x {})", count_text(n)) }
}

/// How many objects of the box in question are held over an arrow.
pub(super) fn held_over(held: &HeldOver, link: GraphLink) -> u64 {
    let of = match link {
        GraphLink::Arrow(i) => held.arrows.get(i),
        GraphLink::Root(i) => held.roots.get(i),
    };
    of.copied().unwrap_or(0)
}

pub(super) fn of_link(graph: &GroupGraph, held: Option<&HeldOver>, link: GraphLink) -> (String, Vec<String>) {
    let (mut label, mut details) = match link {
        GraphLink::Arrow(i) => {
            let arrow = &graph.arrows[i];
            let (from, to) = (&graph.boxes[arrow.from], &graph.boxes[arrow.to]);
            let label = format!("{} to {}", count_text(arrow.referencing), count_text(arrow.referenced));
            let details = vec![
                format!("{} to {}", from.name, to.name),
                format!(
                    "{} refer to {}",
                    part(arrow.referencing, from.amount.objects),
                    part(arrow.referenced, to.amount.objects)
                ),
                several(arrow.references, "reference", "references"),
            ];
            (label, details)
        }
        GraphLink::Root(i) => {
            let root = &graph.roots[i];
            let of = &graph.boxes[root.held];
            let holds = match root.objects {
                Some(objects) => format!("hold {} objects", part(objects, of.amount.objects)),
                None => "hold some of the objects".to_owned(),
            };
            let mut details = vec![
                format!("{} to {}", root.kind, of.name),
                format!("{} {holds}", several(root.roots, "root", "roots")),
            ];
            details.extend(root.places.iter().take(PLACES).map(|(text, n)| place_line(text, *n)));
            if root.places.len() > PLACES {
                details.push(format!("and {} more", count_text((root.places.len() - PLACES) as u64)));
            }
            (count_text(root.objects.unwrap_or(root.roots)), details)
        }
    };
    if let Some(held) = held {
        let n = held_over(held, link);
        let of = graph.boxes.get(held.focus).map_or("", |b| &*b.name);
        label = if n == 0 { String::new() } else { count_text(n) };
        details.push(format!("{} {of} held over this", part(n, held.objects)));
    }
    (label, details)
}
