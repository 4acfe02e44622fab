//! A city as one HTML file: its times, names, amounts and looks, with all that a browser needs to draw, search and step it.
//! It opens anywhere, with nothing installed and nothing fetched.
//!
//! Sides, heights, colours and signs are the [`PlotState`](crate::city::PlotState)s that the application draws with: the program
//! in the page (`assets/page`) computes none of them. Ghosts, the outlines of older states, are not in it. It may not: know files
//! of heaps, or draw.
//!
//! # The data
//! Packed with gzip, as text in base64: four bytes with the length of a JSON text, lowest first; the JSON text (what does not
//! change with time); then columns. A column has one number for each row at each time, as what it differs by from the time
//! before; differences are folded (0, -1, 1, -2 as 0, 1, 2, 3) and written 7 bits a byte, lowest first. Columns of sides,
//! heights and colours have a row for each plot; then come signs (`signs`), which most plots never have; columns of each measure
//! have a row for each plot, then one for each district. After those of all times each measure has a last column with the most that
//! rows ever have, also at times that the page leaves out.

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
use std::io::Write;

/// The page and what starts it.
const PAGE: &str = include_str!("../../../../assets/page/page.html");
const STYLE: &str = include_str!("../../../../assets/page/style.css");
const START: &str = include_str!("../../../../assets/page/start.js");
/// The modules of the page's program, each behind those whose names it says: three.js as it was released
/// (`assets/three/README.md`), and ours.
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

/// What the page says in words.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageWords {
    /// What was looked at.
    pub title: String,
    /// How objects are grouped.
    pub grouping: String,
    /// Which part of the heap it is, and what of a view is not in it.
    pub part: Vec<String>,
    /// What leaks, or what a comparison comes to.
    pub finding: PageFinding,
    /// What else is to be known: what is left out, what is not whole.
    pub says: Vec<String>,
    /// What may be missing from what is shown.
    pub warnings: Vec<String>,
    /// Files that lay beside the input.
    pub others: Option<PageFold>,
    /// What stands over the curve of the whole heap.
    pub heap: String,
    /// Where it is to be seen what keeps a group alive: the page does not know.
    pub alive: String,
}

/// What is to be known first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageFinding {
    /// What stands above it; empty for a sentence alone.
    pub title: String,
    /// What is compared with what, of a comparison.
    pub compared: Vec<String>,
    /// What it comes to in a sentence, where no place is told.
    pub sentence: String,
    /// The places that leak, the one where most accumulates first.
    pub places: Vec<PagePlace>,
    /// How many more places there are.
    pub more: u64,
    /// What must be known about it.
    pub notes: Vec<String>,
}

/// A place that leaks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PagePlace {
    /// Which of several it is.
    pub which: String,
    /// What it is, in short, and with all names.
    pub place: String,
    /// The same with nothing left out.
    pub whole: String,
    /// How much it grows, how much of the whole, since when.
    pub sentence: String,
    /// What else is known of it, a line each.
    pub facts: Vec<String>,
    /// From its GC root down to it, a line for each step; none is left out.
    pub way: Vec<String>,
}

/// Lines that are shown when somebody asks for them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageFold {
    /// What is shown before.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// What a page shows when it is opened, where its address says nothing.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageStart {
    /// Which of the page's times, counted from 0; `None`: the last.
    pub time: Option<usize>,
    /// The key of a group.
    pub select: Option<String>,
}

/// A city that is to become a page.
pub struct Page<'a> {
    /// Where things stand.
    pub plan: &'a CityPlan,
    /// How they look.
    pub appearance: &'a Appearance,
    /// The trees that both were made for.
    pub timeline: &'a Timeline,
    /// The points in time that the page has, ascending; see [`thinned_with`]: the base of the appearance is to be among them.
    pub times: &'a [usize],
    /// Dark or light.
    pub theme: CityTheme,
    /// What it shows first.
    pub start: PageStart,
    /// What it says in words.
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
        let values: [(&str, &str); 6] = [
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
