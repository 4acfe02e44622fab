//! Heap states and findings as tables: a folder of Parquet files that DuckDB, Spark and others read.
//!
//! | module | has |
//! |---|---|
//! | `schema` | the tables: names, columns, meanings |
//! | `folder` | the folder: a file for each table, process and time |
//! | `file` | a file while it is written, row by row |
//! | `heap` | rows of a heap state: types, objects, references, roots, sites, owners |
//! | `groups` | rows of groups over time, of points in time, and of warnings |
//! | `results` | rows of analyses |
//! | `places` | a file of some kilobytes for each run of a process |
//! | `fleet` | many such files: what leaks in which processes |
//!
//! Types of Parquet and Arrow stay inside.

mod file;
mod fleet;
mod folder;
mod groups;
mod heap;
mod places;
mod results;
mod schema;
#[cfg(test)]
mod tests;

pub use fleet::fleet;
pub use folder::{TablesRequest, WrittenTable, WrittenTables, write};
pub use places::{PlacesRequest, write_places};
pub use schema::{ColumnKind, SqlTable, TABLES, TableColumn, VERSION, page};
