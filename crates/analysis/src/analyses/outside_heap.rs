//! Memory outside the heap that objects of the heap stand for: direct buffers and mapped files.

use super::objects::values;
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, Finding, Findings, FollowsFrom, Need,
    NextStep, TimeWindow,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, several};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{DetailLimits, FieldPlace, FieldValue, HeapValues, ObjectContents, ObjectRecord};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, FieldName, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(OutsideHeap)
}

struct OutsideHeap;

/// The memory is worth a line from this part of the live heap on: one in so many.
const LARGE: u64 = 4;

impl Analysis for OutsideHeap {
    fn describe(&self) -> Description {
        Description {
            id: "outside-heap",
            title: "Outside the heap",
            explanation: "Memory outside the heap at the last point in time: capacities of direct buffers and mapped files. Views of \
                another buffer do not count. The total of direct memory is the VM's own (`java.nio.Bits`) where that is larger.",
            needs: &[Need::Objects, Need::Values],
            parameters: Vec::new(),
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(&self, document: &Source, window: TimeWindow, _: &Arguments, progress: &Progress) -> Result<Findings> {
        let values = values(document, window.to, progress)?;
        let heap = values.heap();
        let [mut direct, mapped] = buffers(&values, progress)?;
        direct.bytes = direct.bytes.max(reserved(&values, progress)?.unwrap_or(0));
        let (all, garbage) = heap.totals();
        let live = all.bytes.saturating_sub(garbage.bytes);
        let outside = direct.bytes.saturating_add(mapped.bytes);
        let is_large = outside > 0 && outside.saturating_mul(LARGE) >= live;
        let sentence = || {
            let parts = [(direct, "direct buffer", "direct buffers"), (mapped, "mapped file", "mapped files")];
            let parts = parts.iter().filter(|(amount, ..)| amount.bytes > 0);
            let parts =
                parts.map(|(a, one, more)| format!("{} in {}", bytes_text(a.bytes), several(a.objects, one, more)));
            format!("Outside the heap: {}, beside {} in it.", parts.collect::<Vec<_>>().join(" and "), bytes_text(live))
        };
        let row = |kind: &str, amount: Amount| Row {
            cells: vec![Cell::Text(kind.into()), Cell::Number(amount.objects), Cell::Number(amount.bytes)],
            ..Row::default()
        };
        let table = ResultTable {
            header: TableHeader {
                id: "outside".into(),
                title: "Memory outside the heap".into(),
                columns: vec![
                    Column::new("kind", "Kind", CellKind::Text, "Direct buffers, or mapped files"),
                    Column::new(
                        "count",
                        "Buffers",
                        CellKind::Number(Unit::Objects),
                        "Buffers, without views of others",
                    ),
                    Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their bytes outside the heap"),
                ],
                ..TableHeader::default()
            },
            rows: vec![row("direct", direct), row("mapped", mapped)],
            left_out: None,
            empty_text: String::new(),
        };
        let answers: Vec<String> = is_large.then(sentence).into_iter().collect();
        let found = answers.iter().map(|sentence| {
            let largest = usize::from(mapped.bytes > direct.bytes);
            let finding = Finding::of_row("outside-heap", vec![sentence.clone()], &table, Some(largest));
            Finding { certainty: Certainty::Counted, next: NextStep::run("outside-heap"), ..finding }
        });
        let found = found.collect();
        Ok(Findings { answers, tables: vec![table], found, ..Findings::default() })
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(OutsideHeap)
}

impl Detector for OutsideHeap {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Heap
    }
}

/// Direct buffers and mapped files: how many, and their capacities.
fn buffers(values: &HeapValues, progress: &Progress) -> Result<[Amount; 2]> {
    let heap = values.heap();
    let Some(known) = heap.profile().types.buffers else { return Ok(Default::default()) };
    let place = |of, field: FieldName| values.layouts().place_in(heap, of, field.class, field.name);
    let is_buffer = |of: &TypeId| known.types.contains(&&*heap.types()[of.0 as usize].name);
    let places: FxHashMap<TypeId, [Option<FieldPlace>; 3]> = (0..heap.types().len() as u32)
        .map(TypeId)
        .filter(is_buffer)
        .map(|of| (of, [place(of, known.capacity), place(of, known.of_another), place(of, known.file)]))
        .collect();
    let sums: Mutex<[Amount; 2]> = Mutex::default();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let Some([capacity, of_another, file]) = places.get(&heap.type_of(o)) else { return };
        let ObjectRecord::Instance(fields) = record else { return };
        let object = |place: &Option<FieldPlace>| place.and_then(|place| fields.at(place)?.object());
        if object(of_another).is_some() {
            return;
        }
        let capacity = capacity.and_then(|place| fields.at(place)?.integer());
        let bytes = capacity.and_then(|capacity| u64::try_from(capacity).ok()).unwrap_or(0);
        let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums[usize::from(object(file).is_some())] += Amount { objects: 1, bytes };
    };
    let is_held_by_runtime = |o: ObjectId| {
        let mut holders = heap.referrers(o).iter().map(|&by| &heap.types()[heap.type_of(by).0 as usize].name);
        holders.any(|holder| known.of_runtime.iter().any(|package| holder.starts_with(package)))
    };
    // The runtime holds some by their views alone.
    let is_of_runtime = |o: ObjectId| {
        let views = heap.referrers(o).iter().filter(|&&by| places.contains_key(&heap.type_of(by)));
        is_held_by_runtime(o) || views.into_iter().any(|&view| is_held_by_runtime(view))
    };
    let is_buffer = |&o: &ObjectId| heap.is_reachable(o) && places.contains_key(&heap.type_of(o)) && !is_of_runtime(o);
    let wanted = heap.objects().filter(is_buffer);
    values.scan_few(wanted, &visit, progress)?;
    Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The direct memory that the runtime says it has reserved.
fn reserved(values: &HeapValues, progress: &Progress) -> Result<Option<u64>> {
    let heap = values.heap();
    let Some(known) = heap.profile().types.buffers else { return Ok(None) };
    let total_in = heap.types().iter().position(|of| of.name == known.total_in);
    let Some(class) = total_in.and_then(|of| heap.mirror_of(TypeId(of as u32))) else { return Ok(None) };
    let field = |of: ObjectId, names: &[&str]| -> Result<Option<FieldValue>> {
        let details = values.details(&[of], DetailLimits::default(), progress)?;
        let fields = details.iter().flat_map(|details| match &details.contents {
            ObjectContents::Instance(fields) => &fields[..],
            ObjectContents::Class { statics, .. } => &statics[..],
            _ => &[],
        });
        Ok(fields.filter(|field| names.contains(&&*field.name)).map(|field| field.value).next())
    };
    let total = match field(class, known.totals)? {
        Some(FieldValue::Object(counter)) => field(counter, &[known.counted])?,
        total => total,
    };
    Ok(total.and_then(FieldValue::integer).and_then(|total| u64::try_from(total).ok()))
}
