//! Numbering of the nodes of a finished timeline: level by level, by name within a parent, no two siblings of one name.

use super::amounts::AmountLog;
use super::builder::{Keys, NONE, TimelineBuilder};
use super::key::{NodeId, told_apart};
use super::nodes::Timeline;
use super::symbols::NameTable;
use crate::group::is_own_name;
use memory_city_heap::Amount;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The finished timeline, and the nodes of keys. There is a root.
pub(super) fn finish(mut built: TimelineBuilder) -> (Timeline, Keys) {
    let n = built.parent.len();
    let (mut spans, mut below) = spans(&built);
    leave_out_lone_owns(&built, &mut spans, &below);
    join_chains(&mut built, &mut spans, &below);
    let mut order: Vec<u32> = vec![0];
    let mut parent = vec![0u32];
    let mut level = vec![0u32];
    let mut first_child = Vec::with_capacity(n + 1);
    let mut at = 0;
    while at < order.len() {
        first_child.push(order.len() as u32 - 1);
        let (start, end) = spans[order[at] as usize];
        let children = &mut below[start as usize..end as usize];
        tell_apart(&mut built, children);
        for &child in &*children {
            order.push(child);
            parent.push(at as u32);
            level.push(level[at] + 1);
        }
        at += 1;
    }
    first_child.push(order.len() as u32 - 1);
    drop((spans, below));
    let pick = |column: &[u32]| -> Vec<Arc<str>> {
        order.iter().map(|&i| Arc::clone(built.symbols.text(column[i as usize]))).collect()
    };
    let (name, role) = (pick(&built.name), pick(&built.role));
    let keys = keys(&built, &order);
    let mut seen: HashSet<&Arc<str>> = HashSet::new();
    let leaves = (0..order.len()).filter(|&i| first_child[i] == first_child[i + 1]).map(|i| &name[i]);
    let shared_names = leaves.filter(|n| !seen.insert(n)).cloned().collect();
    let mut nested_roles = std::mem::take(&mut built.nested);
    nested_roles.extend(built.separators.iter().map(|(role, _)| Arc::clone(role)));
    for i in (1..order.len()).filter(|&i| parent[i] != 0 && role[i] == role[parent[i] as usize]) {
        if !nested_roles.contains(&role[i]) {
            nested_roles.insert(Arc::clone(&role[i]));
        }
    }
    let (amounts, max) = changes(std::mem::take(&mut built.log), &order, n);
    let timeline = Timeline {
        profile: Default::default(),
        columns: Vec::new(),
        points: built.points,
        // Breadth first, every node but the root is a child in numbering order.
        children: (1..order.len() as u32).map(NodeId).collect(),
        parent,
        level,
        name,
        role,
        first_child,
        amounts,
        max,
        separators: built.separators,
        nested_roles,
        restarts: built.restarts,
        shared_names,
    };
    (timeline, keys)
}

/// Changes by node instead of by time, and the maximum of each node.
fn changes(log: Vec<Arc<Vec<(u32, Amount)>>>, order: &[u32], nodes: usize) -> (AmountLog, Vec<Amount>) {
    // Nodes inside joined chains have no number of their own, and no changes.
    let mut number = vec![NONE; nodes];
    order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
    let mut first_change = vec![0u32; order.len() + 1];
    let mut largest = Amount::default();
    for (old, amount) in log.iter().flat_map(|changes| changes.iter()) {
        if let Some(count) = first_change.get_mut((number[*old as usize] as usize).saturating_add(1)) {
            *count += 1;
            largest.objects = largest.objects.max(amount.objects);
            largest.bytes = largest.bytes.max(amount.bytes);
        }
    }
    for i in 1..first_change.len() {
        first_change[i] += first_change[i - 1];
    }
    let mut next = first_change.clone();
    let mut changes = AmountLog::with_room(first_change, log.len(), largest);
    let mut max = vec![Amount::default(); order.len()];
    // Each time goes away as soon as it is sorted in: never all of them twice.
    for (t, of_time) in log.into_iter().enumerate() {
        for &(old, amount) in of_time.iter() {
            let node = number[old as usize];
            if node == NONE {
                continue;
            }
            let (at, max) = (&mut next[node as usize], &mut max[node as usize]);
            changes.set(*at as usize, t as u32, amount);
            *at += 1;
            max.objects = max.objects.max(amount.objects);
            max.bytes = max.bytes.max(amount.bytes);
        }
    }
    (changes, max)
}

/// For each node, which part of the second list has its children.
fn spans(built: &TimelineBuilder) -> (Vec<(u32, u32)>, Vec<u32>) {
    let parent = &built.parent;
    let n = parent.len();
    // A tree that follows changes also knows groups that came and went between two points in time.
    let mut stays = vec![!built.stepped; n];
    built.log.iter().filter(|_| built.stepped).flat_map(|log| log.iter()).for_each(|c| stays[c.0 as usize] = true);
    let nodes = || (1..n).filter(|&i| stays[i]);
    let mut spans = vec![(0u32, 0u32); n];
    for i in nodes() {
        spans[parent[i] as usize].1 += 1;
    }
    let mut start = 0;
    for span in &mut spans {
        let count = span.1;
        *span = (start, start);
        start += count;
    }
    let mut below = vec![0; start as usize];
    for i in nodes() {
        let end = &mut spans[parent[i] as usize].1;
        below[*end as usize] = i as u32;
        *end += 1;
    }
    (spans, below)
}

/// A group whose own objects are all that it ever has needs no group of its own for them.
fn leave_out_lone_owns(built: &TimelineBuilder, spans: &mut [(u32, u32)], below: &[u32]) {
    if built.own_roles.is_empty() {
        return;
    }
    let name = |i: usize| built.symbols.text(built.name[i]);
    for (i, span) in spans.iter_mut().enumerate() {
        if let [only] = below[span.0 as usize..span.1 as usize]
            && built.role[only as usize] == built.role[i]
            && built.own_roles.contains(built.symbols.text(built.role[i]))
            && is_own_name(name(only as usize), name(i))
        {
            span.1 = span.0;
        }
    }
}

/// Makes one node of a node with a single child of the same role, where that role is joined: `org`, `org.h2`.
/// Decided on the nodes of all times together, so a name never changes over time.
fn join_chains(built: &mut TimelineBuilder, spans: &mut [(u32, u32)], below: &[u32]) {
    if built.separators.is_empty() {
        return;
    }
    // Children come after their parents: backwards, a chain is joined from its end.
    for i in (1..built.parent.len()).rev() {
        let role = built.symbols.text(built.role[i]);
        let Some((_, separator)) = built.separators.iter().find(|(r, _)| r == role) else { continue };
        let (start, end) = spans[i];
        if let [only] = below[start as usize..end as usize]
            && built.role[only as usize] == built.role[i]
        {
            let names = [built.name[i], built.name[only as usize]].map(|s| built.symbols.text(s));
            let joined: Arc<str> = Arc::from(format!("{}{separator}{}", names[0], names[1]));
            built.name[i] = built.symbols.keep(joined);
            spans[i] = spans[only as usize];
        }
    }
}

/// Sorts siblings by name, and sees to it that no two have the same one.
fn tell_apart(built: &mut TimelineBuilder, children: &mut [u32]) {
    let TimelineBuilder { symbols, name, role, key, .. } = built;
    let text = |symbols: &NameTable, symbol: u32| match symbol {
        NONE => Arc::default(),
        symbol => Arc::clone(symbols.text(symbol)),
    };
    let by_name = |symbols: &NameTable, name: &[u32], children: &mut [u32]| {
        let text = |i: u32| symbols.text(name[i as usize]);
        children.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
        children.windows(2).any(|pair| text(pair[0]) == text(pair[1]))
    };
    if !by_name(symbols, name, children) {
        return;
    }
    children.sort_by_cached_key(|&i| [&*name, &*role, &*key].map(|column| text(symbols, column[i as usize])));
    let mut taken: HashSet<Arc<str>> = HashSet::with_capacity(children.len());
    let mut renamed: Vec<(u32, String)> = Vec::new();
    for run in children.chunk_by(|&a, &b| symbols.text(name[a as usize]) == symbols.text(name[b as usize])) {
        let shared = symbols.text(name[run[0] as usize]);
        if let [_] = run {
            taken.insert(Arc::clone(shared));
            continue;
        }
        let one_role = run.iter().all(|&i| role[i as usize] == role[run[0] as usize]);
        for &i in run {
            let role = symbols.text(role[i as usize]);
            let mut own = if one_role { shared.to_string() } else { told_apart(shared, role) };
            if one_role && key[i as usize] != NONE {
                own = format!("{own} [{}]", symbols.text(key[i as usize]));
            }
            renamed.push((i, own));
        }
    }
    // A name made up here may be one that another sibling has: then it gets a number.
    let mut next: HashMap<String, usize> = HashMap::new();
    for (i, own) in renamed {
        let mut unique: Arc<str> = Arc::from(own.as_str());
        while !taken.insert(Arc::clone(&unique)) {
            let turn = next.entry(own.clone()).or_insert(1);
            *turn += 1;
            unique = Arc::from(format!("{own} [{turn}]"));
        }
        name[i as usize] = symbols.keep(unique);
    }
    by_name(symbols, name, children);
}

fn keys(built: &TimelineBuilder, order: &[u32]) -> Keys {
    let mut keys = Keys::default();
    for (node, &i) in order.iter().enumerate().filter(|(_, i)| built.key[**i as usize] != NONE) {
        let key = built.symbols.text(built.key[i as usize]);
        if keys.find.contains_key(key) {
            keys.ambiguous.push(Arc::clone(key));
        } else {
            keys.find.insert(Arc::clone(key), NodeId(node as u32));
        }
    }
    keys
}
