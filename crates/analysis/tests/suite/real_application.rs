//! A real application with leaks of known size, recorded and read back: the report must name them, with their numbers.
//!
//! `tests/java/H2Load.java` runs the H2 database and says after each step how many statements it left open and how many
//! orders it has stored. That is the truth the timeline, the reference maps and the report are held against.

use memory_city_analysis::analyses::report::{ReportOptions, report};
use memory_city_analysis::analyses::top_growing;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::{Cell, CellKind};
use memory_city_analysis::timeline::{History, Metric, NodeId, Source, Timeline};
use memory_city_heap::progress::Progress;
use memory_city_testing::{jvm, root};
use std::path::Path;
use std::sync::Arc;

const H2: &str = "/usr/share/java/h2.jar";
/// New customers, each with a statement that is never closed, and new orders, per step; one dump after each.
const STEPS: [(u64, u64); 5] = [(100, 500), (300, 100), (300, 100), (400, 0), (500, 200)];

/// One object of these for each open statement.
const PER_STATEMENT: [(&str, &str); 5] = [
    ("org.h2.jdbc", "JdbcPreparedStatement"),
    ("org.h2.jdbc", "JdbcResultSet"),
    ("org.h2.command", "CommandContainer"),
    ("org.h2.command.query", "Select"),
    ("org.h2.table", "TableFilter"),
];

/// The growth of a class since the first time, at each time.
fn growth(timeline: &Timeline, package: &str, class: &str) -> Vec<i64> {
    let node = leaf(timeline, package, class);
    (0..timeline.times()).map(|t| timeline.growth_until(t, node, Metric::Objects)).collect()
}

/// The group of a class. Packages are nested districts, some of several parts: `org.h2`, then `jdbc`.
fn leaf(timeline: &Timeline, package: &str, class: &str) -> NodeId {
    let wanted = |&node: &NodeId| {
        let districts = timeline.path(node).into_iter().filter(|&n| timeline.role(n) == "Package");
        let package_of = districts.map(|n| timeline.name(n)).collect::<Vec<_>>().join(".");
        timeline.is_leaf(node) && timeline.name(node) == class && package_of == package
    };
    timeline.nodes().find(wanted).unwrap_or_else(|| panic!("there is no group for {package}.{class}"))
}

#[test]
fn the_leaks_of_a_database_application_are_named_and_counted() {
    let test = "the_leaks_of_a_database_application_are_named_and_counted";
    let Some(jdk) = jvm::jdk_from(17) else {
        return jvm::skip(test, "there is no JDK 17 or newer (apt-get install default-jdk-headless)");
    };
    if !Path::new(H2).is_file() {
        return jvm::skip(test, &format!("{H2} is missing (apt-get install libh2-java)"));
    }

    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    jdk.compile(&[&root().join("tests/java/H2Load.java")], H2, &classes);
    let class_path = format!("{}:{H2}", classes.display());
    // Without the last flag the collector leaves small gaps, and dead arrays of int in them.
    let flags = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=1"];
    let mut shop = jvm::Program::start(&jdk, &flags, &class_path, "H2Load");
    let dumps = folder.path().join("dumps");
    std::fs::create_dir(&dumps).expect("a folder");
    let (mut statements, mut orders) = (vec![0], vec![0]);
    for (i, (customers, new_orders)) in STEPS.into_iter().enumerate() {
        let said = shop.ask(&format!("{customers} {new_orders}"));
        statements.push(statements[i] + customers);
        orders.push(orders[i] + new_orders);
        assert_eq!(said, format!("statements {} orders {}", statements[i + 1], orders[i + 1]));
        // Every second one compressed: a series may be mixed.
        let (name, options): (_, &[&str]) =
            if i % 2 == 0 { (format!("{i}.hprof"), &[]) } else { (format!("{i}.hprof.gz"), &["-gz=1"]) };
        shop.dump(&dumps.join(name), options);
    }
    let since_first = |counts: &[u64]| -> Vec<i64> { counts[1..].iter().map(|n| (n - counts[1]) as i64).collect() };
    let (more_statements, more_orders) = (since_first(&statements), since_first(&orders));
    let (statements, orders) = (statements[STEPS.len()], orders[STEPS.len()]);

    let progress = Progress::new();
    let series = memory_city_formats::open(&[dumps], &progress).expect("the series");
    let history =
        History::build(Arc::from(series), "package-type", GroupOptions::default(), &progress).expect("a history");
    let source = Source::Heaps(history);
    let timeline = source.timeline();
    assert_eq!(timeline.times(), STEPS.len());
    assert_eq!(source.warnings(), [], "sound dumps of one program");

    // What the program did is what the city shows, at every point in time.
    for (package, class) in PER_STATEMENT {
        assert_eq!(growth(timeline, package, class), more_statements, "{package}.{class}");
        let last = timeline.amount(STEPS.len() - 1, leaf(timeline, package, class));
        assert!(last.objects >= statements, "{package}.{class}: {last:?}");
    }
    assert_eq!(growth(timeline, "org.h2.result", "DefaultRow"), more_orders);

    // Among hundreds of groups the leak is in the first 40, although each statement has dozens of other objects.
    let top = top_growing(timeline, Metric::Objects, 40);
    for (package, class) in PER_STATEMENT {
        assert!(top.contains(&leaf(timeline, package, class)), "{package}.{class} is not among the top growing");
    }

    // What keeps it alive: each result set refers to its statement, and so does a node of the application's map.
    let statement = leaf(timeline, "org.h2.jdbc", "JdbcPreparedStatement");
    let map = source.references(STEPS.len() - 1, statement, &progress).expect("a reference map").expect("known");
    for (package, class) in [("org.h2.jdbc", "JdbcResultSet"), ("java.util", "HashMap$Node")] {
        let edge = map.incoming.iter().find(|edge| edge.other == leaf(timeline, package, class));
        let edge = edge.unwrap_or_else(|| panic!("{package}.{class} refers to no statement"));
        assert_eq!((edge.referencing, edge.referenced), (statements, statements), "{package}.{class}");
    }

    let options = ReportOptions { top: 40, metric: "objects".into(), ..ReportOptions::default() };
    let report = report(&source, &options, &progress).expect("a report");
    let table = report.table("growing").expect("what grows");
    let cell = |row: usize, column: &str| &table.rows[row].cells[table.header.column(column).expect("a column")];
    let is_it = |row: &usize| matches!(cell(*row, "group"), Cell::Node(link) if link.key == timeline.key(statement));
    let row =
        (0..table.rows.len()).filter(|&r| table.rows[r].depth == 0).find(is_it).expect("a row for the statements");
    assert_eq!(*cell(row, "growth_objects"), Cell::Change(*more_statements.last().expect("a last time")));
    assert_eq!(*cell(row, "last_objects"), Cell::Number(statements));
    let below = (row + 1..table.rows.len()).take_while(|&r| table.rows[r].depth > 0);
    let names: Vec<String> = below.map(|r| cell(r, "group").text(CellKind::Node)).collect();
    assert!(names.iter().any(|name| name.contains("HashMap$Node")), "{names:?}");
    assert!(orders > 0 && report.to_string().contains("JdbcPreparedStatement"));
}
