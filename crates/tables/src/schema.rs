//! The tables: names, columns, meanings. `docs/tables.md` is made of them.

use std::fmt::Write;

/// Version of the schema: raised when a column changes its meaning or goes. New columns and tables do not raise it.
pub const VERSION: u32 = 1;

/// The type of a column. Any cell may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed number of 64 bits.
    Long,
    /// A floating point number of 64 bits.
    Double,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

impl ColumnKind {
    /// Its name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            ColumnKind::Long => "BIGINT",
            ColumnKind::Double => "DOUBLE",
            ColumnKind::Flag => "BOOLEAN",
            ColumnKind::Text => "VARCHAR",
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnKind,
    /// Its meaning.
    pub about: &'static str,
}

/// A table with a fixed schema.
#[derive(Debug)]
pub struct SqlTable {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// The meaning of a row.
    pub row: &'static str,
    /// Whether there is a file for each point in time.
    pub by_time: bool,
    /// Its columns, beside `process` and `time`.
    pub columns: &'static [TableColumn],
}

const fn long(name: &'static str, about: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Long, about }
}

const fn text(name: &'static str, about: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Text, about }
}

const fn flag(name: &'static str, about: &'static str) -> TableColumn {
    TableColumn { name, kind: ColumnKind::Flag, about }
}

pub(crate) static DUMPS: SqlTable = SqlTable {
    name: "dumps",
    row: "A point in time",
    by_time: false,
    columns: &[
        long("time", "Its number, from 1"),
        text("label", "Its file or collection"),
        long(
            "taken_at",
            "When, in milliseconds since 1970; null where only the time since the start of the program is known",
        ),
        long("uptime", "Milliseconds since the start of the program"),
        long("gc_number", "The collection that it is the start or end of"),
        text("gc_cause", "The cause of that collection"),
        long("gc_millis", "How long that took"),
        long("objects", "Objects that roots reach; with --unreachable all"),
        long("bytes", "Their shallow bytes"),
        long("unreachable_objects", "Objects that no root reaches"),
        long("unreachable_bytes", "Their shallow bytes"),
        long("sampled_objects", "Where only samples are known: how many"),
    ],
};

pub(crate) static TYPES: SqlTable = SqlTable {
    name: "types",
    row: "A type of a heap state",
    by_time: true,
    columns: &[
        long("type", "Its number in this heap state"),
        text("name", "Its name: java.util.HashMap$Node, char[]"),
        text("stable_name", "The same without numbers and hashes that differ from run to run"),
        text("package", "Its package"),
        text("kind", "instance, object array or primitive array"),
        long("super", "The type it extends"),
        text("loader", "Its class loader"),
    ],
};

pub(crate) static OBJECTS: SqlTable = SqlTable {
    name: "objects",
    row: "An object",
    by_time: true,
    columns: &[
        long("object", "Its number in this heap state: the rank of its address"),
        long("address", "Its address; those above 2^63 are negative"),
        long("identity", "Its number in all heap states of this process, where the input follows objects"),
        long("type", "Its type"),
        long("bytes", "Its shallow size"),
        long("length", "Elements of an array"),
        flag("reachable", "Whether a root reaches it"),
        long("dominator", "The object that alone keeps it alive; null below a root, or below several"),
        long("retained_bytes", "Bytes that would be freed with it, its own included. Not to be added up"),
        long("retained_objects", "Objects that would be freed with it, itself included. Not to be added up"),
        long("owner", "Its place among the owners"),
        long("site", "Where it was allocated"),
        text("thread", "The thread that allocated it"),
        long("birth", "The first collection after its allocation, counted from 0"),
    ],
};

pub(crate) static REFERENCES: SqlTable = SqlTable {
    name: "references",
    row: "A reference",
    by_time: true,
    columns: &[
        long("from", "The object that refers"),
        long("to", "The object it refers to"),
        text(
            "field",
            "The field, or several if the types alone do not decide. Null in arrays, and where it is unknown",
        ),
        text("strength", "soft, weak, phantom or finalizer; null for a plain reference"),
    ],
};

pub(crate) static ROOTS: SqlTable = SqlTable {
    name: "roots",
    row: "A GC root",
    by_time: true,
    columns: &[
        long("object", "The object it keeps alive"),
        text("kind", "Its kind"),
        text("detail", "The field, thread or method"),
        text("place", "Of a local variable: where in the code"),
    ],
};

pub(crate) static SITES: SqlTable = SqlTable {
    name: "sites",
    row: "A frame of an allocation site",
    by_time: true,
    columns: &[
        long("site", "The number of the site"),
        long("depth", "Its place: 0 allocated"),
        text("frame", "The method and line"),
    ],
};

pub(crate) static OWNERS: SqlTable = SqlTable {
    name: "owners",
    row: "A place among the owners: objects of one type that the same places own",
    by_time: true,
    columns: &[
        long("owner", "Its number in this heap state"),
        long("parent", "The place that owns it; null at the top"),
        text("name", "Its name below that"),
        text(
            "path",
            "The names from the root down to it. The same place has the same path at other times and in other runs",
        ),
        long("own_objects", "Objects here, with the insides of collections"),
        long("own_bytes", "Their shallow bytes. They add up to all that is kept alive"),
        long("total_objects", "Objects here and below"),
        long("total_bytes", "Bytes here and below: what freeing these objects frees at least"),
        long("heads", "Objects here without the insides of others here: collections without their tables"),
        long("largest", "The one of them that retains most"),
    ],
};

pub(crate) static GROUPS: SqlTable = SqlTable {
    name: "groups",
    row: "A group of the grouping at a point in time",
    by_time: true,
    columns: &[
        text("grouping", "The grouping"),
        text("key", "Its key: the names from the top, as --select takes them"),
        text("parent", "The key of the group around it"),
        text("role", "Its role: Type, Package"),
        text("name", "Its name"),
        flag("leaf", "Whether it has no groups inside. Leaves add up to the heap"),
        long("objects", "Its objects"),
        long("bytes", "Their shallow bytes"),
    ],
};

pub(crate) static WARNINGS: SqlTable = SqlTable {
    name: "warnings",
    row: "A warning about the input",
    by_time: false,
    columns: &[
        text("file", "The file"),
        long("offset", "The byte offset in it"),
        text("message", "What happened, and its effect"),
    ],
};

pub(crate) static PLACES: SqlTable = SqlTable {
    name: "places",
    row: "A place of a process. The first row is the process itself, findings follow",
    by_time: false,
    columns: &[
        text("process", "The name of the process"),
        text("version", "The version of its program"),
        long("taken_at", "When the last heap state was taken, or the file written, in milliseconds since 1970"),
        long("points", "Points in time between the first and the last"),
        text("place", "The path of owners; null for the process itself"),
        long(
            "first_bytes",
            "Shallow bytes at the first point in time; they add up. A finding has what it retains, the process all",
        ),
        long("last_bytes", "The same at the last one"),
        long("last_objects", "Objects at the last one"),
        text("signature", "Of a finding: its name, the same in every run; of the process: the verdict"),
        text("finding", "The finding in a sentence"),
    ],
};

/// All tables with a fixed schema that `convert` writes.
pub static TABLES: [&SqlTable; 9] =
    [&DUMPS, &GROUPS, &OBJECTS, &OWNERS, &REFERENCES, &ROOTS, &SITES, &TYPES, &WARNINGS];

/// The tables in Markdown.
pub fn page() -> String {
    let mut page = String::new();
    for table in TABLES.into_iter().chain([&PLACES]) {
        let by = match (table.name, table.by_time) {
            ("places", _) => "A file of its own",
            (_, true) => "Folders: process, time",
            (_, false) => "Folders: process",
        };
        let _ = writeln!(page, "### `{}`\n\n{}. {by}.\n\n| column | type | |\n|---|---|---|", table.name, table.row);
        for column in table.columns {
            let _ = writeln!(page, "| `{}` | {} | {} |", column.name, column.kind.sql(), column.about);
        }
        page.push('\n');
    }
    page
}
