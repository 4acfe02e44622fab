//! Tables of the analysis `sites`: places estimated from samples, and types counted by walks, or from samples without walks.

use super::SampledSite;
use super::moments::{ESTIMATES, MomentTexts};

use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader};
use crate::timeline::{History, TimeWindow, Unit};
use memory_city_formats::sampled::{SampledAllocations, SampledAmount};
use memory_city_heap::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::sync::Arc;

fn bytes_cell(bytes: f64) -> Cell {
    Cell::Number(bytes.max(0.0) as u64)
}

/// The suffix of the title of a table of samples.
fn samples_are(is_exact: bool) -> &'static str {
    if is_exact { "every allocation" } else { "samples: estimates, ± 3 sigma" }
}

pub(super) fn site_table(
    sites: &[SampledSite],
    top: usize,
    has_growth: bool,
    words: &MomentTexts,
    is_exact: bool,
) -> ResultTable {
    let bytes = CellKind::Number(Unit::Bytes);
    let samples = CellKind::Number(Unit::Count);
    let columns = vec![
        Column::new("place", "Allocated at", CellKind::Text, "The place in the code"),
        Column::new("samples", "Samples", samples, words.alive),
        Column::new("alive", "Alive, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("alive_error", "±", bytes, "Three standard deviations of that"),
        Column::new("growth", "Growth, about", CellKind::Change(Unit::Bytes), words.growth),
        Column::new("growth_error", "±", bytes, "Three standard deviations of that"),
        Column::new("allocated_samples", "All samples", samples, "All samples of this place"),
        Column::new("allocated", "Allocated, about", bytes, "Bytes that all of them stand for, dead or alive"),
        Column::new("allocated_error", "±", bytes, "Three standard deviations of that"),
        Column::new("types", "Types", CellKind::Text, "Of what is alive, as shares of the estimate"),
    ];
    let row = |site: &SampledSite| Row {
        cells: vec![
            Cell::Text(site.place.clone()),
            Cell::Number(site.alive.samples),
            bytes_cell(site.alive.bytes),
            bytes_cell(site.alive.error()),
            if has_growth { Cell::Change(site.growth.bytes as i64) } else { Cell::Empty },
            if has_growth { bytes_cell(site.growth.error()) } else { Cell::Empty },
            Cell::Number(site.allocated.samples),
            bytes_cell(site.allocated.bytes),
            bytes_cell(site.allocated.error()),
            Cell::Text(site.types_text()),
        ],
        ..Row::default()
    };
    let left_out = sites.len().saturating_sub(top) as u64;
    ResultTable {
        header: TableHeader {
            id: "sites".into(),
            title: format!("Allocation sites of what is alive ({})", samples_are(is_exact)),
            columns,
            ..TableHeader::default()
        },
        rows: sites.iter().take(top).map(row).collect(),
        left_out: (left_out > 0).then(|| (left_out, "places".into())),
        empty_text: "No sample was taken.".into(),
    }
}

/// The reachable objects of a walk by the name of their type, counted: what has died and was not collected yet is not alive for samples
/// either. Classes of one name from several loaders are one, as they are in samples.
pub(super) fn live_by_type(history: &History, time: usize, progress: &Progress) -> Result<BTreeMap<Arc<str>, Amount>> {
    let heap = history.heap(time, progress)?;
    let mut counts: Vec<Amount> = vec![Amount::default(); heap.types().len()];
    for (at, object) in heap.objects().enumerate() {
        if at % (1 << 20) == 0 {
            progress.check()?;
        }
        if let Some(count) = counts.get_mut(heap.type_of(object).0 as usize).filter(|_| heap.is_reachable(object)) {
            count.objects += 1;
            count.bytes += heap.size_of(object);
        }
    }
    let mut sums: BTreeMap<Arc<str>, Amount> = BTreeMap::new();
    for (of, count) in heap.types().iter().zip(counts).filter(|(_, count)| count.objects > 0) {
        let sum = sums.entry(Arc::from(&*of.name)).or_default();
        sum.objects += count.objects;
        sum.bytes += count.bytes;
    }
    Ok(sums)
}

/// The counts of the last walk by type, beside the estimates from samples.
pub(super) fn type_table(
    history: &History,
    window: TimeWindow,
    sampled: &SampledAllocations,
    top: usize,
    progress: &Progress,
) -> Result<ResultTable> {
    let exact = live_by_type(history, window.to, progress)?;
    let mut rows: BTreeMap<&str, (Amount, SampledAmount)> = BTreeMap::new();
    for (name, count) in &exact {
        rows.entry(name).or_default().0 = *count;
    }
    let last = sampled.alive.len().saturating_sub(1);
    for (group, alive) in sampled.groups.iter().zip(sampled.alive_by_group(last)).filter(|(_, alive)| alive.samples > 0)
    {
        rows.entry(&group.class).or_default().1.add(alive);
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.bytes.cmp(&a.1.0.bytes).then_with(|| a.0.cmp(b.0)));
    let left_out = rows.len().saturating_sub(top) as u64;
    let bytes = CellKind::Number(Unit::Bytes);
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "The type"),
        Column::new(
            "objects",
            "Objects (exact)",
            CellKind::Number(Unit::Objects),
            "Objects in the last walk that some root reaches, counted",
        ),
        Column::new("bytes", "Bytes (exact)", bytes, "Their shallow bytes, counted"),
        Column::new("samples", "Samples", CellKind::Number(Unit::Count), "How many of them are samples"),
        Column::new("estimated", "By samples, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("estimated_error", "±", bytes, "Three standard deviations of that"),
    ];
    let rows = rows.into_iter().take(top).map(|(name, (exact, estimate))| Row {
        cells: vec![
            Cell::Text(name.to_owned()),
            Cell::Number(exact.objects),
            Cell::Number(exact.bytes),
            Cell::Number(estimate.samples),
            bytes_cell(estimate.bytes),
            bytes_cell(estimate.error()),
        ],
        ..Row::default()
    });
    Ok(ResultTable {
        header: TableHeader {
            id: "sampled-types".into(),
            title: "Types in the last walk: exact counts, and what samples make of them".into(),
            columns,
            ..TableHeader::default()
        },
        rows: rows.collect(),
        left_out: (left_out > 0).then(|| (left_out, "types".into())),
        empty_text: "The last walk has no object.".into(),
    })
}

/// The types of live objects estimated from samples, for inputs without walks.
pub(super) fn estimated_types(sampled: &SampledAllocations, top: usize) -> ResultTable {
    let last = sampled.alive.len().saturating_sub(1);
    let mut sums: BTreeMap<&str, SampledAmount> = BTreeMap::new();
    for (group, alive) in sampled.groups.iter().zip(sampled.alive_by_group(last)).filter(|(_, alive)| alive.samples > 0)
    {
        sums.entry(&group.class).or_default().add(alive);
    }
    let mut rows: Vec<(&str, SampledAmount)> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes).then_with(|| a.0.cmp(b.0)));
    let left_out = rows.len().saturating_sub(top) as u64;
    let bytes = CellKind::Number(Unit::Bytes);
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "The type"),
        Column::new("samples", "Samples", CellKind::Number(Unit::Count), ESTIMATES.alive),
        Column::new("estimated", "Alive, about", bytes, "Bytes that these stand for: an estimate"),
        Column::new("estimated_error", "±", bytes, "Three standard deviations of that"),
    ];
    let rows = rows.into_iter().take(top).map(|(name, estimate)| Row {
        cells: vec![
            Cell::Text(name.to_owned()),
            Cell::Number(estimate.samples),
            bytes_cell(estimate.bytes),
            bytes_cell(estimate.error()),
        ],
        ..Row::default()
    });
    ResultTable {
        header: TableHeader {
            id: "sampled-types".into(),
            title: format!("Types of what is alive ({})", samples_are(sampled.is_exact)),
            columns,
            ..TableHeader::default()
        },
        rows: rows.collect(),
        left_out: (left_out > 0).then(|| (left_out, "types".into())),
        empty_text: "No sample is alive.".into(),
    }
}
