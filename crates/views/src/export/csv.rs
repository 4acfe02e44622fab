//! CSV export of a city: a row for each box.

use super::{BoxKind, ShownCity};
use crate::city::linear_to_srgb;
use memory_city_analysis::tabular::{CsvTexts, csv_text};
use memory_city_analysis::timeline::{Metric, NodeId};
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// Columns, in their order. Numbers are plain. Growth counts from `since`, the base of a comparison or the first time. Values are in the
/// metrics of areas, colours and heights, by name. Colours are sRGB, `#rrggbb`.
const COLUMNS: [&str; 27] = [
    "kind",
    "key",
    "name",
    "role",
    "groups",
    "objects",
    "bytes",
    "growth_objects",
    "growth_bytes",
    "since",
    "area_metric",
    "area_value",
    "colour_metric",
    "colour_value",
    "height_metric",
    "height_value",
    "share_of_bytes",
    "x",
    "z",
    "ground",
    "width",
    "depth",
    "height",
    "colour",
    "opacity",
    "time",
    "found",
];

/// Writes a header and a row for each district, building and shared plot. `growth_*` is empty for shared plots, `found` where nothing
/// is looked for.
///
/// # Errors
/// When `out` takes no more, or the work was cancelled ([`io::ErrorKind::Interrupted`]).
pub fn write_csv(city: &ShownCity<'_>, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let ShownCity { plan, timeline, appearance, time, .. } = *city;
    let since = appearance.base().unwrap_or(0);
    let metrics = appearance.measured(plan);
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    let text = |text: &str| csv_text(text, CsvTexts::Harmless).into_owned();
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for (row, b) in city.boxes().into_iter().enumerate() {
        if row % 4096 == 0 {
            progress.check().map_err(|error| io::Error::new(io::ErrorKind::Interrupted, error.to_string()))?;
        }
        let (kind, name, groups) = match b.kind {
            BoxKind::District => ("district", timeline.name(b.node).to_owned(), 1),
            BoxKind::Building => ("building", timeline.name(b.node).to_owned(), 1),
            BoxKind::More(count) => ("more", format!("{count} more in {}", timeline.name(b.node)), count),
        };
        let at = |time: usize, metric: Metric| timeline.value(time, b.node, metric);
        let growth = |metric: Metric| match b.kind {
            BoxKind::More(_) => String::new(),
            _ => (i128::from(at(time, metric)) - i128::from(at(since, metric))).to_string(),
        };
        // What shares a plot has the sum of its groups; of further metrics that would say nothing.
        let value = |metric: Metric| match (b.kind, metric) {
            (BoxKind::More(_), Metric::Objects) => b.amount.objects.to_string(),
            (BoxKind::More(_), Metric::Bytes) => b.amount.bytes.to_string(),
            (BoxKind::More(_), Metric::Column(_)) => String::new(),
            _ => at(time, metric).to_string(),
        };
        let name_of = |metric: Metric| text(&timeline.metric_info(metric).id);
        let hex = b.colour.map(|v| (linear_to_srgb(v.clamp(0.0, 1.0)) * 255.0).round() as u8);
        writer.write_record([
            kind.to_owned(),
            text(&timeline.key(b.node)),
            text(&name),
            text(timeline.role(b.node)),
            groups.to_string(),
            b.amount.objects.to_string(),
            b.amount.bytes.to_string(),
            growth(Metric::Objects),
            growth(Metric::Bytes),
            (since + 1).to_string(),
            name_of(metrics[0]),
            value(metrics[0]),
            name_of(metrics[1]),
            value(metrics[1]),
            name_of(metrics[2]),
            value(metrics[2]),
            (b.amount.bytes as f64 / heap as f64).to_string(),
            b.foot.x.to_string(),
            b.foot.z.to_string(),
            b.foot.y.to_string(),
            b.size.x.to_string(),
            b.size.z.to_string(),
            b.size.y.to_string(),
            format!("#{:02x}{:02x}{:02x}", hex[0], hex[1], hex[2]),
            b.opacity.to_string(),
            (time + 1).to_string(),
            b.lit.map(|share| share.to_string()).unwrap_or_default(),
        ])?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::city::testing::{at, inner, leaf};
    use crate::city::{Appearance, CityConfig, CityPlan, CityTheme, Look, lit};
    use std::collections::HashMap;

    #[test]
    fn every_box_is_a_row_with_its_numbers() {
        let tree =
            inner("Heap", vec![inner("a,\"b\"", vec![leaf("x", &[1, 30]), leaf("y", &[10, 10]), leaf("z", &[2, 3])])]);
        let timeline = tree.timeline();
        let plan = CityPlan::new(&timeline, &CityConfig { child_count: Some(2), ..CityConfig::default() });
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        let found = lit(&timeline, 1, &[at(&timeline, "Heap#a,\"b\"#x")], false);
        let city = ShownCity {
            plan: &plan,
            timeline: &timeline,
            appearance: &appearance,
            time: 1,
            lit: Some(&found),
            theme: CityTheme::Dark,
            painted: &HashMap::new(),
        };
        let mut out = Vec::new();
        write_csv(&city, &mut out, &Progress::new()).expect("written");
        let mut reader = csv::Reader::from_reader(&out[..]);
        let header = reader.headers().expect("a header").clone();
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
        let cell = |row: &csv::StringRecord, column: &str| {
            row[header.iter().position(|c| c == column).expect("a column")].to_owned()
        };
        let of = |name: &str| {
            rows.iter().find(|row| cell(row, "name") == name).unwrap_or_else(|| panic!("{name}: {rows:?}"))
        };
        assert_eq!(rows.len(), plan.districts.len() + plan.plots.len());
        let x = of("x");
        assert_eq!(
            (cell(x, "kind"), cell(x, "objects"), cell(x, "growth_objects")),
            ("building".into(), "30".into(), "29".into())
        );
        assert_eq!((cell(x, "key"), cell(x, "found")), ("Heap#a,\"b\"#x".into(), "1".into()));
        let more = of("1 more in a,\"b\"");
        assert_eq!(
            (cell(more, "kind"), cell(more, "objects"), cell(more, "growth_bytes")),
            ("more".into(), "3".into(), String::new())
        );
        let area: f64 =
            cell(x, "width").parse::<f64>().expect("a number") * cell(x, "depth").parse::<f64>().expect("a number");
        assert!((area - plan.base_area(30.0)).abs() < 0.01 * area, "{area}");
        assert!(cell(x, "colour").starts_with('#') && cell(x, "colour").len() == 7);
        assert_eq!((cell(x, "since"), cell(x, "area_value")), ("1".into(), cell(x, &cell(x, "area_metric"))));
    }

    /// A comparison is written as it is shown: since the base, in the metrics of heights and colours.
    #[test]
    fn growth_is_since_what_is_compared_with() {
        let timeline = inner("Heap", vec![leaf("x", &[1, 30, 20])]).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        let look =
            Look { base: Some(1), colour: "change".into(), height_metric: Some("objects".into()), ..Look::default() };
        let look = Look { height: "amount".into(), ..look };
        let appearance = Appearance::new(&plan, &timeline, &look);
        let x = at(&timeline, "Heap#x");
        let marked = HashMap::from([(x, [1.0, 1.0, 1.0])]);
        let city = ShownCity {
            plan: &plan,
            timeline: &timeline,
            appearance: &appearance,
            time: 2,
            lit: None,
            theme: CityTheme::Light,
            painted: &marked,
        };
        let mut out = Vec::new();
        write_csv(&city, &mut out, &Progress::new()).expect("written");
        let mut reader = csv::Reader::from_reader(&out[..]);
        let header = reader.headers().expect("a header").clone();
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
        let row = rows.iter().find(|row| &row[2] == "x").expect("its building");
        let cell = |column: &str| &row[header.iter().position(|c| c == column).expect("a column")];
        assert_eq!((cell("growth_objects"), cell("since")), ("-10", "2"));
        assert_eq!((cell("height_metric"), cell("height_value")), ("objects", "20"));
        assert_eq!((cell("colour_metric"), cell("colour")), ("objects", "#ffffff"));
    }
}
