//! Rows of heap states.
//!
//! Objects stand in parts of a million by address, each sorted by type and address: memory stays small, and equal types and near addresses
//! pack well. References have the order of the objects that refer.

use crate::file::{BATCH, TableCell, TableFile};
use crate::folder::TablesFolder;
use crate::schema::{OBJECTS, OWNERS, REFERENCES, ROOTS, SITES, TYPES};
use memory_city_analysis::ownership::OwnerTree;
use memory_city_analysis::timeline::{History, Source};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, Referent, ThreadId, TypeId, TypeKind};
use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Objects that are sorted together.
const SORTED: usize = 1 << 20;

/// Writes the heap states of an input, one after the other. Returns what is left out.
pub(crate) fn write(source: &Source, folder: &mut TablesFolder<'_>, progress: &Progress) -> Result<Vec<String>> {
    let Some(history) = source.heaps() else {
        return Ok(vec![
            "types, objects, references, roots, sites and owners: the input has no single objects".to_owned(),
        ]);
    };
    for time in 0..history.timeline().times() {
        progress.check()?;
        write_state(history, time, folder, &progress.hidden())?;
    }
    let mut left_out = vec!["texts and other values of fields".to_owned()];
    if folder.request.no_references {
        left_out.push("what refers to what (--no-references)".to_owned());
    }
    Ok(left_out)
}

fn write_state(history: &History, time: usize, folder: &mut TablesFolder<'_>, progress: &Progress) -> Result<()> {
    let rules = KeepRules::default().for_owners();
    let (heap, dominators) = history.dominators(time, rules, progress)?;
    let tree = OwnerTree::new(&heap, &dominators, progress)?;
    let state = StateRows { heap: &heap, dominators: &dominators, tree: &tree };
    let at = Some(time);
    let mut table = folder.begin(&TYPES, at)?;
    state.types(&mut table)?;
    folder.add(TYPES.name, table)?;
    let mut table = folder.begin(&ROOTS, at)?;
    state.roots(&mut table)?;
    folder.add(ROOTS.name, table)?;
    let mut table = folder.begin(&OWNERS, at)?;
    state.owners(&mut table, progress)?;
    folder.add(OWNERS.name, table)?;
    if heap.origins().is_some() {
        let mut table = folder.begin(&SITES, at)?;
        state.sites(&mut table)?;
        folder.add(SITES.name, table)?;
    }
    let mut objects = folder.begin(&OBJECTS, at)?;
    if folder.request.no_references {
        state.objects(&mut objects, progress)?;
        return folder.add(OBJECTS.name, objects);
    }
    let mut references = folder.begin(&REFERENCES, at)?;
    let (of_objects, of_references) =
        rayon::join(|| state.objects(&mut objects, progress), || state.references(&mut references, progress));
    of_objects.and(of_references)?;
    folder.add(OBJECTS.name, objects)?;
    folder.add(REFERENCES.name, references)
}

struct StateRows<'a> {
    heap: &'a HeapState,
    dominators: &'a Dominators,
    tree: &'a OwnerTree,
}

impl StateRows<'_> {
    fn types(&self, table: &mut TableFile) -> Result<()> {
        let names = &self.heap.profile().names;
        for (number, of) in (0u32..).zip(self.heap.types()) {
            let kind = match of.kind {
                TypeKind::Instance => "instance",
                TypeKind::ObjectArray => "object array",
                TypeKind::PrimitiveArray => "primitive array",
            };
            table.push([
                number.into(),
                TableCell::text(&of.name),
                TableCell::text(names.stable(&of.name)),
                TableCell::some_text(names.split(&of.name).0),
                TableCell::text(kind),
                of.superclass.map_or(TableCell::Null, |t| t.0.into()),
                TableCell::some_text(&of.loader),
            ])?;
        }
        Ok(())
    }

    fn roots(&self, table: &mut TableFile) -> Result<()> {
        for root in self.heap.roots() {
            table.push([
                root.object.0.into(),
                TableCell::text(root.kind.title()),
                TableCell::some_text(&root.detail),
                root.place().map_or(TableCell::Null, TableCell::text),
            ])?;
        }
        Ok(())
    }

    fn owners(&self, table: &mut TableFile, progress: &Progress) -> Result<()> {
        // The first stands for the heap.
        for (number, node) in (0u32..).zip(self.tree.nodes()).skip(1) {
            if number.is_multiple_of(1 << 12) {
                progress.check()?;
            }
            let names: Vec<&str> = self.tree.path(number).into_iter().map(|name| &**name).collect();
            table.push([
                number.into(),
                if node.parent == 0 { TableCell::Null } else { node.parent.into() },
                TableCell::Text(Arc::clone(&node.name)),
                TableCell::text(&names.join(" › ")),
                TableCell::count(node.own.objects),
                TableCell::count(node.own.bytes),
                TableCell::count(node.total.objects),
                TableCell::count(node.total.bytes),
                TableCell::count(node.heads),
                node.largest.map_or(TableCell::Null, |(o, _)| o.0.into()),
            ])?;
        }
        Ok(())
    }

    fn sites(&self, table: &mut TableFile) -> Result<()> {
        let sites = self.heap.origins().map_or(&[][..], |origins| &origins.sites);
        for (number, site) in (0u32..).zip(sites) {
            for (depth, frame) in (0u32..).zip(&site.frames) {
                table.push([number.into(), depth.into(), TableCell::Text(Arc::clone(frame))])?;
            }
        }
        Ok(())
    }

    /// All objects, in parts by address, each sorted by type and address.
    fn sorted(&self, progress: &Progress, mut each: impl FnMut(ObjectId) -> Result<()>) -> Result<()> {
        let count = self.heap.object_count();
        let mut part: Vec<(u32, u32)> = Vec::with_capacity(SORTED.min(count));
        for from in (0..count).step_by(SORTED) {
            part.clear();
            part.extend(
                (from as u32..(from + SORTED).min(count) as u32).map(|o| (self.heap.type_of(ObjectId(o)).0, o)),
            );
            part.par_sort_unstable();
            for (n, &(_, o)) in part.iter().enumerate() {
                if n.is_multiple_of(BATCH) {
                    progress.check()?;
                }
                each(ObjectId(o))?;
            }
        }
        Ok(())
    }

    fn objects(&self, table: &mut TableFile, progress: &Progress) -> Result<()> {
        self.sorted(progress, |o| self.object(o, table))
    }

    fn references(&self, table: &mut TableFile, progress: &Progress) -> Result<()> {
        let mut fields = FieldTexts::default();
        self.sorted(progress, |o| self.references_of(o, &mut fields, table))
    }

    fn object(&self, o: ObjectId, table: &mut TableFile) -> Result<()> {
        let heap = self.heap;
        let is_kept = self.dominators.is_reached(o);
        let retained = is_kept.then(|| self.dominators.retained(o));
        let origin = heap.origins().map(|origins| *origins.of(o.0 as usize)).filter(|origin| origin.was_recorded());
        let thread = origin.filter(|origin| origin.thread != ThreadId::UNKNOWN);
        let thread = thread.and_then(|origin| Some(Arc::clone(heap.origins()?.thread(origin.thread))));
        table.push([
            o.0.into(),
            heap.address(o).map_or(TableCell::Null, |address| TableCell::Long(address as i64)),
            TableCell::counted(heap.stable_id(o).or_else(|| heap.followed_number(o))),
            heap.type_of(o).0.into(),
            TableCell::count(heap.size_of(o)),
            heap.array_length(o).map_or(TableCell::Null, TableCell::from),
            TableCell::Flag(heap.is_reachable(o)),
            self.dominators.owner(o).filter(|_| is_kept).map_or(TableCell::Null, |owner| owner.0.into()),
            TableCell::counted(retained.map(|amount| amount.bytes)),
            TableCell::counted(retained.map(|amount| amount.objects)),
            Some(self.tree.of(o)).filter(|node| *node != 0).map_or(TableCell::Null, TableCell::from),
            origin.map_or(TableCell::Null, |origin| origin.site.into()),
            thread.map_or(TableCell::Null, TableCell::Text),
            origin.map_or(TableCell::Null, |origin| origin.birth.into()),
        ])
    }

    fn references_of(&self, o: ObjectId, names: &mut FieldTexts, table: &mut TableFile) -> Result<()> {
        let weaker = self.heap.referents().of(o);
        for (place, &to) in self.heap.references(o).iter().enumerate() {
            let at = weaker.binary_search_by_key(&(to, place as u32), |r: &Referent| (r.to, r.place));
            let strength = at.map_or(TableCell::Null, |at| TableCell::text(weaker[at].strength.title()));
            let field = names.of(self.heap, o, place, to).map_or(TableCell::Null, TableCell::Text);
            table.push([o.0.into(), to.0.into(), field, strength])?;
        }
        Ok(())
    }
}

/// Fields between types, each text once.
#[derive(Default)]
struct FieldTexts(FxHashMap<(TypeId, TypeId), Option<Arc<str>>>);

impl FieldTexts {
    fn of(&mut self, heap: &HeapState, from: ObjectId, place: usize, to: ObjectId) -> Option<Arc<str>> {
        if heap.has_reference_names() {
            return heap.reference_name(from, place).map(|name| name.to_string().into());
        }
        if let Some(field) = heap.inferred_field(from, to) {
            return Some(field.into());
        }
        let types = (heap.type_of(from), heap.type_of(to));
        let text = || heap.field_between(from, to).map(Arc::from);
        self.0.entry(types).or_insert_with(text).clone()
    }
}
