//! Descriptions applied to the types of a heap state.
//!
//! The part of an object in the structure of one that refers to it follows from their types alone. Types that the same names fit are one *class* here, so the
//! answer is one byte of a small table.

use super::descriptions::Descriptions;
use super::names::fits;
use super::parse::TypeDescription;
use crate::error::Result;
use crate::progress::Progress;
use crate::{HeapState, TypeId, TypeKind};
use rustc_hash::FxHashMap;

/// The part of an object in the structure of one that refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Pointed {
    /// It is not in the structure.
    Outside,
    /// It is contents of the structure, which ends there.
    Leaf,
    /// It is a part of the structure, which goes on with its references.
    Part,
}

/// The descriptions of the types of a heap state. The table takes a byte for each description that a type has, times the sorts of types.
pub struct StructureRules<'d> {
    descriptions: &'d Descriptions,
    /// By type: the number of its description.
    of: Vec<Option<u32>>,
    /// By type: the row of the table. In row 0 everything is outside, in row 1 everything is a part.
    row: Vec<u32>,
    /// By type: the column.
    class: Vec<u32>,
    classes: usize,
    table: Vec<Pointed>,
}

/// Supertypes of a type; more is damage.
const DEEPEST: usize = 1000;

impl<'d> StructureRules<'d> {
    /// Finds the description of each type: that of its name, or of its nearest supertype. The name of an array is its own alone.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, descriptions: &'d Descriptions, progress: &Progress) -> Result<StructureRules<'d>> {
        let types = heap.types();
        let levels = |t: usize| {
            let above = move |t: &usize| match types[*t].kind {
                TypeKind::Instance => Some(types[*t].superclass?.0 as usize).filter(|t| *t < types.len()),
                _ => None,
            };
            std::iter::successors(Some(t), above).take(DEEPEST)
        };
        let mut own: Vec<Option<usize>> = Vec::with_capacity(types.len());
        for of in types {
            progress.check()?;
            own.push(descriptions.find(&of.name));
        }
        let of: Vec<Option<u32>> =
            (0..types.len()).map(|t| levels(t).find_map(|t| own[t]).map(|at| at as u32)).collect();
        // The names that descriptions of this heap point to, each once.
        let mut used: Vec<u32> = of.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut names: FxHashMap<&str, u32> = FxHashMap::default();
        for pointed in used.iter().flat_map(|at| &descriptions.all()[*at as usize].points_to) {
            let next = names.len() as u32;
            names.entry(&pointed.name).or_insert(next);
        }
        let mut patterns: Vec<(&str, u32)> = names.iter().map(|(name, at)| (*name, *at)).collect();
        patterns.retain(|(name, _)| name.contains('*') && *name != "*");
        let mut fitting: Vec<Vec<u32>> = Vec::with_capacity(types.len());
        for of in types {
            progress.check()?;
            let by_name = names.get(&*of.name).copied();
            let by_pattern = patterns.iter().filter(|(pattern, _)| fits(pattern, &of.name)).map(|(_, at)| *at);
            fitting.push(by_name.into_iter().chain(by_pattern).collect());
        }
        let row_of_description = |at: u32| used.binary_search(&at).map_or(0, |row| row as u32 + 2);
        let row = |t: usize| match (of[t], types[t].kind) {
            (Some(at), _) => row_of_description(at),
            (None, TypeKind::ObjectArray) => 1,
            (None, _) => 0,
        };
        let row: Vec<u32> = (0..types.len()).map(row).collect();
        let is_head = |t: usize| of[t].is_some_and(|at| descriptions.all()[at as usize].is_head);
        // Types of a class: the names that fit them, whether they are heads, whether a structure goes on there.
        let mut sorts: FxHashMap<(Vec<u32>, bool, bool), u32> = FxHashMap::default();
        let mut class = Vec::with_capacity(types.len());
        for (t, row) in row.iter().enumerate() {
            let mut all: Vec<u32> = levels(t).flat_map(|t| &fitting[t]).copied().collect();
            all.sort_unstable();
            all.dedup();
            let next = sorts.len() as u32;
            class.push(*sorts.entry((all, is_head(t), *row != 0)).or_insert(next));
        }
        let classes = sorts.len();
        let mut table = vec![Pointed::Outside; classes * (used.len() + 2)];
        let any = [PointedNumber { name: None, is_leaf: false }];
        for at in 0..=used.len() {
            progress.check()?;
            let numbers: Vec<PointedNumber> = match at.checked_sub(1) {
                None => any.to_vec(),
                Some(at) => {
                    let points_to = &descriptions.all()[used[at] as usize].points_to;
                    let number = |name: &str| if name == "*" { None } else { names.get(name).copied() };
                    points_to.iter().map(|p| PointedNumber { name: number(&p.name), is_leaf: p.is_leaf }).collect()
                }
            };
            for ((all, is_head, goes_on), column) in &sorts {
                let fits = |p: &&PointedNumber| p.name.is_none_or(|name| all.binary_search(&name).is_ok());
                let first = numbers.iter().filter(fits).map(|p| p.is_leaf).min();
                table[(at + 1) * classes + *column as usize] = match first {
                    None => Pointed::Outside,
                    // What ends the implicit search through an array without a description is its content.
                    Some(false) if !is_head && (*goes_on || at > 0) => Pointed::Part,
                    Some(_) => Pointed::Leaf,
                };
            }
        }
        Ok(StructureRules { descriptions, of, row, class, classes, table })
    }

    /// The number of the description of a type, in [`Descriptions::all`].
    pub fn number_of(&self, t: TypeId) -> Option<u32> {
        self.of[t.0 as usize]
    }

    /// The description of a type.
    pub fn of(&self, t: TypeId) -> Option<&'d TypeDescription> {
        self.number_of(t).map(|at| &self.descriptions.all()[at as usize])
    }

    /// Whether the objects of a type are heads.
    pub fn is_head(&self, t: TypeId) -> bool {
        self.of(t).is_some_and(|of| of.is_head)
    }

    /// Whether an object of a type is a part of each structure that an object of another type which refers to it is in.
    pub fn is_part(&self, owner: TypeId, of: TypeId) -> bool {
        self.of(owner).is_some() && self.row(owner.0)[self.class[of.0 as usize] as usize] == Pointed::Part
    }

    /// By column, what objects are to one of this type that refers to them.
    #[inline]
    pub(super) fn row(&self, t: u32) -> &[Pointed] {
        let start = self.row[t as usize] as usize * self.classes;
        &self.table[start..start + self.classes]
    }

    /// By type: the column of its objects.
    #[inline]
    pub(super) fn columns(&self) -> &[u32] {
        &self.class
    }
}

/// A [`PointedType`](super::PointedType) by number; `None` for any type.
#[derive(Clone, Copy)]
struct PointedNumber {
    name: Option<u32>,
    is_leaf: bool,
}
