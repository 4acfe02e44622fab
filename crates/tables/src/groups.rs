//! Rows of groups over time, of points in time, and of warnings.

use crate::file::TableCell;
use crate::folder::TablesFolder;
use crate::schema::{DUMPS, GROUPS, WARNINGS};
use memory_city_analysis::timeline::{NodeId, Source, by_uptime};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::sync::Arc;

pub(crate) fn write(source: &Source, folder: &mut TablesFolder<'_>, progress: &Progress) -> Result<()> {
    dumps(source, folder)?;
    groups(source, folder, progress)?;
    let mut table = folder.begin(&WARNINGS, None)?;
    for warning in source.warnings() {
        let file = warning.path.to_string_lossy();
        table.push([
            TableCell::some_text(&file),
            TableCell::counted(warning.offset),
            TableCell::text(&warning.message),
        ])?;
    }
    folder.add(WARNINGS.name, table)
}

fn dumps(source: &Source, folder: &mut TablesFolder<'_>) -> Result<()> {
    let timeline = source.timeline();
    let by_uptime = by_uptime(timeline.points());
    let mut table = folder.begin(&DUMPS, None)?;
    for (t, point) in timeline.points().iter().enumerate() {
        let all = timeline.amount(t, NodeId::ROOT);
        let millis = Some(point.millis).filter(|millis| *millis > 0);
        let gc = point.gc.as_ref();
        table.push([
            TableCell::count(t as u64 + 1),
            TableCell::text(&point.label),
            TableCell::counted(millis.filter(|_| !by_uptime)),
            TableCell::counted(millis.filter(|_| by_uptime)),
            TableCell::counted(gc.map(|gc| gc.number.into())),
            gc.map_or(TableCell::Null, |gc| TableCell::some_text(&gc.cause)),
            TableCell::counted(gc.map(|gc| gc.duration)),
            TableCell::count(all.objects),
            TableCell::count(all.bytes),
            TableCell::count(point.unreachable.objects),
            TableCell::count(point.unreachable.bytes),
            TableCell::counted(point.sampled.map(|part| part.samples)),
        ])?;
    }
    folder.add(DUMPS.name, table)
}

fn groups(source: &Source, folder: &mut TablesFolder<'_>, progress: &Progress) -> Result<()> {
    let timeline = source.timeline();
    let grouping: Arc<str> = source.grouping_id().into();
    let keys: Vec<Arc<str>> = timeline.nodes().map(|node| timeline.key(node).into()).collect();
    let key = |node: NodeId| TableCell::Text(Arc::clone(&keys[node.0 as usize]));
    for t in 0..timeline.times() {
        progress.check()?;
        let mut table = folder.begin(&GROUPS, Some(t))?;
        for node in timeline.nodes() {
            let amount = timeline.amount(t, node);
            if amount.objects == 0 && amount.bytes == 0 {
                continue;
            }
            table.push([
                TableCell::Text(Arc::clone(&grouping)),
                key(node),
                timeline.parent(node).map_or(TableCell::Null, key),
                TableCell::some_text(timeline.role(node)),
                TableCell::text(timeline.name(node)),
                TableCell::Flag(timeline.is_leaf(node)),
                TableCell::count(amount.objects),
                TableCell::count(amount.bytes),
            ])?;
        }
        folder.add(GROUPS.name, table)?;
    }
    Ok(())
}
