//! The table (stub until its data is there).
use super::{Place, View};
pub(super) fn view() -> View {
    View { id: "table", title: "Table", help: "The whole tree as a table", place: Place::Middle, keys: &[], plugin: |_| (), draw: |_, _| (), preparation: None }
}
