//! A city as one HTML file: its times, names, amounts and looks, with all that a browser needs to draw, search and step it. It opens
//! anywhere, with nothing installed and nothing fetched.
//!
//! Sides, heights, colours and signs are the [`PlotState`](crate::city::PlotState)s that the application draws with: the program
//! in the page (`assets/page`) computes none of them. Ghosts, the outlines of older states, are not in it. It may not: know files
//! of heaps, or draw.
//!
//! # The data
//! The data is packed with gzip, as text in base64. It is four bytes with the length of a JSON text, lowest first, then the JSON text
//! (everything constant), then columns. A column has one number for each row at each time, as the difference from the time before.
//! Differences are folded (0, -1, 1, -2 as 0, 1, 2, 3) and written 7 bits a byte, lowest first. Columns of sides, heights and colours have
//! a row for each plot. Signs (`signs`) follow, which most plots never have. Columns of each measure have a row for each plot, then one for
//! each district. After all times each measure has a last column with the maximum of each row, also over times that the page leaves out.

mod data;
mod signs;

pub use data::{thinned, thinned_with};

use crate::city::{Appearance, CityPlan, CityTheme};
use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use memory_city_analysis::timeline::Timeline;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Write;

/// The page with its start script.
const PAGE: &str = include_str!("../../../../assets/page/page.html");
const STYLE: &str = include_str!("../../../../assets/page/style.css");
const START: &str = include_str!("../../../../assets/page/start.js");
/// The modules of the page's program, each after the modules it imports: the released three.js (`assets/three/README.md`), and ours.
const MODULES: [(&str, &str); 12] = [
    ("./three.core.min.js", include_str!("../../../../assets/three/three.core.min.js")),
    ("three", include_str!("../../../../assets/three/three.module.min.js")),
    ("orbit", include_str!("../../../../assets/three/OrbitControls.js")),
    ("./numbers.js", include_str!("../../../../assets/page/numbers.js")),
    ("./rows.js", include_str!("../../../../assets/page/rows.js")),
    ("./scene.js", include_str!("../../../../assets/page/scene.js")),
    ("./signs.js", include_str!("../../../../assets/page/signs.js")),
    ("./names.js", include_str!("../../../../assets/page/names.js")),
    ("./told.js", include_str!("../../../../assets/page/told.js")),
    ("./panels.js", include_str!("../../../../assets/page/panels.js")),
    ("./camera.js", include_str!("../../../../assets/page/camera.js")),
    ("program", include_str!("../../../../assets/page/program.js")),
];

/// The texts of the page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageWords {
    /// The name of the input.
    pub title: String,
    /// How objects are grouped.
    pub grouping: String,
    /// The part of the heap that is shown, and the parts of a view that are missing.
    pub part: Vec<String>,
    /// The leak, or the result of a comparison.
    pub finding: PageFinding,
    /// Other remarks: omissions, and data that is incomplete.
    pub says: Vec<String>,
    /// Warnings about data that may be missing.
    pub warnings: Vec<String>,
    /// Files that lay beside the input.
    pub others: Option<PageFold>,
    /// The title over the curve of the whole heap.
    pub heap: String,
    /// The place where the reasons for a group's life can be seen: the page does not have them.
    pub alive: String,
}

/// The finding at the top of the page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageFinding {
    /// Its heading; empty for a sentence alone.
    pub title: String,
    /// For a comparison, the two sides.
    pub compared: Vec<String>,
    /// The result in a sentence, if it has no place.
    pub sentence: String,
    /// The places that leak, the one where most accumulates first.
    pub places: Vec<PagePlace>,
    /// The number of more places.
    pub more: u64,
    /// Notes that a reader must know.
    pub notes: Vec<String>,
}

/// A place that leaks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PagePlace {
    /// Its rank among several.
    pub which: String,
    /// The place, in short and with all names.
    pub place: String,
    /// The same with nothing left out.
    pub whole: String,
    /// How much it grows, how much of the whole, since when.
    pub sentence: String,
    /// Further facts, a line each.
    pub facts: Vec<String>,
    /// The path from its GC root, a line for each step; none is left out.
    pub way: Vec<String>,
}

/// Lines that are shown on demand.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageFold {
    /// The title of the view.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// The first view of a page, if its address names none.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageStart {
    /// An index into the page's times; `None`: the last.
    pub time: Option<usize>,
    /// The key of a group.
    pub select: Option<String>,
}

/// A city that is to become a page.
pub struct Page<'a> {
    /// Where things stand.
    pub plan: &'a CityPlan,
    /// The look.
    pub appearance: &'a Appearance,
    /// The trees that both were made for.
    pub timeline: &'a Timeline,
    /// The points in time that the page has, ascending; see [`thinned_with`]: the base of the appearance is to be among them.
    pub times: &'a [usize],
    /// Dark or light.
    pub theme: CityTheme,
    /// The first view.
    pub start: PageStart,
    /// The texts.
    pub words: &'a PageWords,
}

impl Page<'_> {
    /// The HTML text. About 0.6 MB, and a few bytes for each plot whose value changes at a time.
    ///
    /// # Errors
    /// Cancelled through `progress`.
    ///
    /// # Panics
    /// If there is no time, or one that the timeline does not have.
    pub fn html(&self, progress: &Progress) -> Result<String> {
        progress.begin("Writing the page", self.times.len() as u64);
        let data = packed(&data::bytes(self, progress)?);
        let title = escaped(&self.words.title);
        let module = |(name, text): &(&str, &str)| {
            format!("<script type=\"text/plain\" data-module=\"{name}\">{}</script>\n", packed(text.as_bytes()))
        };
        let modules: String = MODULES.iter().map(module).collect();
        let policy = policy();
        let values: [(&str, &str); 7] = [
            ("@POLICY@", &policy),
            ("@TITLE@", &title),
            ("@THEME@", self.theme.id()),
            ("@STYLE@", STYLE),
            ("@DATA@", &data),
            ("@MODULES@", &modules),
            ("@START@", START),
        ];
        let mut html = String::with_capacity(PAGE.len() + values.iter().map(|(_, text)| text.len()).sum::<usize>());
        // In one pass: what is put in is not looked at again, whatever a title may contain.
        let mut rest = PAGE;
        while let Some((at, (place, text))) =
            values.iter().filter_map(|value| rest.find(value.0).map(|at| (at, value))).min_by_key(|found| found.0)
        {
            html.push_str(&rest[..at]);
            html.push_str(text);
            rest = &rest[at + place.len()..];
        }
        html.push_str(rest);
        Ok(html)
    }
}

/// The content security policy of the page. It may run the one script that starts it and the modules that this unpacks, use its own style,
/// and draw. It reaches nothing outside, and nothing in its texts can run.
fn policy() -> String {
    let digest = |text: &str| BASE64.encode(&Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}' blob:; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(START),
        digest(STYLE)
    )
}

/// Bytes as text that can stand in a script element.
fn packed(bytes: &[u8]) -> String {
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let packed = gz.write_all(bytes).and_then(|()| gz.finish()).unwrap_or_default();
    BASE64.encode(&packed)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
