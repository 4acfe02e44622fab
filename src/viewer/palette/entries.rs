//! Entries of the palette beside groups: everything with a name that can be done, chosen or gone to. This module matches and orders them
//! for a text; nothing here draws.

use crate::viewer::action::{Action, BINDINGS};
use crate::viewer::keys;
use crate::viewer::settings::Settings;
use memory_city_analysis::timeline::GcNoun;
use memory_city_views::city::height::HeightCurve;
use memory_city_views::city::{AreaMode, CityTheme, ReferenceShape, colour, height};

/// Effect of an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Does {
    /// Runs an action, like its key.
    Act(Action),
    /// Changes a setting.
    Set(Box<Settings>),
    /// Groups by it.
    Group(String),
    /// Groups by the bloat of collections, with a script.
    GroupByBloat,
    /// Shows a view.
    View(&'static str),
    /// Shows a place that the report names among its owners, by its number.
    Place(usize),
    /// Goes to a bookmark, by its place.
    Bookmark(usize),
    /// Goes to a point in time.
    Time(usize),
}

/// One line of the palette.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteEntry {
    /// Kind: its heading.
    pub kind: &'static str,
    /// Name.
    pub title: String,
    /// Text beside it: the key, or the present state.
    pub aside: String,
    /// Effect.
    pub does: Does,
}

/// All that can be done by a key.
pub fn actions() -> Vec<PaletteEntry> {
    let entry = |b: &crate::viewer::action::Binding| PaletteEntry {
        kind: "Actions",
        title: keys::map().help(b).to_owned(),
        // As they are now: keys can be given to other actions.
        aside: keys::map().printed(b.action).to_owned(),
        does: Does::Act(b.action),
    };
    let offered = |b: &&crate::viewer::action::Binding| !b.help.is_empty() && b.action != Action::Palette;
    BINDINGS.iter().filter(offered).map(entry).collect()
}

/// Settings with a choice of values, each as it would be after its choice. `noun`: the word for a collection in the open document.
pub fn settings(now: &Settings, noun: GcNoun) -> Vec<PaletteEntry> {
    let mut entries = Vec::new();
    let mut add = |title: String, change: &dyn Fn(&mut Settings)| {
        let mut wanted = now.clone();
        change(&mut wanted);
        let aside = if wanted == *now { "now".to_owned() } else { String::new() };
        entries.push(PaletteEntry { kind: "Settings", title, aside, does: Does::Set(Box::new(wanted)) });
    };
    add("Areas: square root".into(), &|s| s.area_mode = AreaMode::Sqrt);
    add("Areas: linear".into(), &|s| s.area_mode = AreaMode::Linear);
    for metric in ["objects", "bytes", "retained", "deep"] {
        add(format!("Measure: {metric}"), &|s| s.set_metric_by_name(metric));
    }
    for mode in colour::modes() {
        add(format!("Colour: {}", mode.title.to_lowercase()), &|s| s.set_colour(mode.id));
    }
    for rule in height::rules() {
        add(format!("Height: {}", rule.title.to_lowercase()), &|s| s.height = rule.id.to_owned());
    }
    for shape in ReferenceShape::ALL {
        add(format!("References: {}", shape.id()), &|s| s.reference_shape = shape);
    }
    for curve in std::iter::once(None).chain(HeightCurve::ALL.map(Some)) {
        let title = curve.map_or("as the rule has it", HeightCurve::title);
        add(format!("Height scale: {}", title.to_lowercase()), &|s| s.set_curve(curve));
    }
    for palette in &colour::PALETTES {
        add(format!("Palette: {}", palette.title.to_lowercase()), &|s| s.palette = palette.id.to_owned());
    }
    for theme in CityTheme::ALL {
        add(format!("Theme: {}", theme.id()), &|s| s.theme = theme);
    }
    for (title, opacity) in [("clear", 0.15), ("usual", 0.4), ("dense", 0.75), ("solid", 1.0)] {
        add(format!("Opacity of buildings: {title}"), &|s| s.opacity = opacity);
    }
    for count in [0, 10, 50] {
        add(format!("Solid buildings: the {count} that grow most"), &|s| s.solid_count = count);
    }
    for count in [20, 40, 100] {
        add(format!("Children with plots: {count}"), &|s| s.child_count = count);
    }
    for count in [4, 9, 16] {
        add(format!("Times side by side: {count}"), &|s| s.multiples = count);
    }
    for (title, scale) in [("by the screen", None), ("100 %", Some(1.0)), ("150 %", Some(1.5)), ("200 %", Some(2.0))] {
        add(format!("Size of text and panels: {title}"), &|s| s.ui_scale = scale);
    }
    let mut switch = |title: &str, is: bool, set: &dyn Fn(&mut Settings, bool)| {
        add(format!("{title}: {}", if is { "off" } else { "on" }), &|s| set(s, !is));
    };
    switch("Names", now.labels, &|s, on| s.labels = on);
    switch("Names of libraries folded", now.fold_libraries, &|s, on| s.fold_libraries = on);
    switch("References", now.show_pointers, &|s, on| s.show_pointers = on);
    switch("References that keep the selection", now.show_incoming, &|s, on| s.show_incoming = on);
    switch("References to what the selection keeps", now.show_outgoing, &|s, on| s.show_outgoing = on);
    switch("Minimap", now.minimap, &|s, on| s.minimap = on);
    switch("Hints", now.hints, &|s, on| s.hints = on);
    switch("Heights of outliers capped", now.cap, &|s, on| s.cap = on);
    switch("Reduced motion", now.reduced_motion, &|s, on| s.reduced_motion = on);
    switch("Playing again from the start", now.repeat, &|s, on| s.repeat = on);
    switch("Shadows", now.shadows, &|s, on| s.shadows = on);
    switch("Only the largest children have plots", now.prune, &|s, on| s.prune = on);
    switch(&format!("Starts of {} too", noun.many()), now.gc_starts, &|s, on| s.gc_starts = on);
    switch(&format!("{} below trends", noun.title()), now.trends.strip, &|s, on| s.trends.strip = on);
    switch("Unreachable objects too", now.include_unreachable, &|s, on| s.include_unreachable = on);
    for (title, percent) in [("normal", 100u16), ("large", 140), ("very large", 200)] {
        add(format!("Size of names: {title}"), &|s| s.name_size = f32::from(percent) / 100.0);
    }
    for (title, count) in [("by the room for them", None), ("few", Some(12)), ("normal", Some(40)), ("many", Some(120))]
    {
        add(format!("Number of names: {title}"), &|s| s.name_count = count);
    }
    entries
}

/// How well an entry fits the words of a text: the smaller the better; `None` if a word is missing. The order of words does not matter.
pub fn fit(entry: &PaletteEntry, text: &str) -> Option<u32> {
    let title = entry.title.to_lowercase();
    let kind = entry.kind.to_lowercase();
    let mut sum = 0;
    for word in text.to_lowercase().split_whitespace() {
        let starts = |at: usize| at == 0 || !title[..at].ends_with(|c: char| c.is_alphanumeric());
        let in_title = title.match_indices(word).map(|(at, _)| (!starts(at), at)).min();
        sum += match in_title {
            Some((false, at)) => u32::from(at > 0),
            Some((true, _)) => 4,
            None if kind.starts_with(word) => 2,
            None if entry.aside.to_lowercase().replace(' ', "").contains(word) => 6,
            None => return None,
        };
    }
    Some(sum)
}

/// The entries of one kind that fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FittingKind {
    /// Which kind.
    pub kind: &'static str,
    /// The best of them, the best first.
    pub listed: Vec<PaletteEntry>,
    /// How many fit.
    pub count: usize,
}

/// The entries that fit, the best first of each kind, kinds in the order in which they come; at most `most` of each.
pub fn fitting(entries: &[PaletteEntry], text: &str, most: usize) -> Vec<FittingKind> {
    let mut kinds: Vec<(&'static str, Vec<(u32, &PaletteEntry)>)> = Vec::new();
    for entry in entries {
        let Some(fit) = fit(entry, text) else { continue };
        match kinds.iter_mut().find(|(kind, _)| *kind == entry.kind) {
            Some((_, of_kind)) => of_kind.push((fit, entry)),
            None => kinds.push((entry.kind, vec![(fit, entry)])),
        }
    }
    let best = |(kind, mut of_kind): (&'static str, Vec<(u32, &PaletteEntry)>)| {
        // Equal ones stay in their order.
        of_kind.sort_by_key(|(fit, _)| *fit);
        let listed = of_kind.iter().take(most).map(|(_, entry)| (*entry).clone()).collect();
        FittingKind { kind, listed, count: of_kind.len() }
    };
    kinds.into_iter().map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::timeline::ClosureMetric;

    fn titles(text: &str) -> Vec<String> {
        let all: Vec<PaletteEntry> =
            actions().into_iter().chain(settings(&Settings::default(), GcNoun::default())).collect();
        fitting(&all, text, 5).into_iter().flat_map(|kind| kind.listed).map(|entry| entry.title).collect()
    }

    #[test]
    fn each_kind_says_how_many_of_it_fit() {
        let all: Vec<PaletteEntry> =
            actions().into_iter().chain(settings(&Settings::default(), GcNoun::default())).collect();
        for text in ["", "names", "areas", "colour", "no such thing"] {
            for FittingKind { kind, listed, count } in fitting(&all, text, 7) {
                let fits = all.iter().filter(|entry| entry.kind == kind && fit(entry, text).is_some()).count();
                assert_eq!((count, listed.len()), (fits, fits.min(7)), "{text}: {kind}");
                assert!(listed.iter().all(|entry| entry.kind == kind) && count > 0);
            }
        }
    }

    #[test]
    fn words_find_actions_and_settings_in_any_order() {
        assert_eq!(titles("linear areas")[0], "Areas linear or square root");
        assert!(titles("areas linear").contains(&"Areas: linear".to_owned()));
        assert_eq!(titles("bird"), ["Bird's-eye view"]);
        assert!(titles("f12").iter().any(|title| title.contains("PNG")), "keys find what they do");
        assert!(titles("no such thing").is_empty());
        assert!(titles("settings").iter().all(|title| !title.is_empty()) && titles("settings").len() == 5);
    }

    #[test]
    fn what_is_so_already_says_so_and_each_setting_changes_what_it_says() {
        let now = Settings::default();
        let all = settings(&now, GcNoun::default());
        let of = |title: &str| all.iter().find(|entry| entry.title == title).unwrap_or_else(|| panic!("{title}"));
        assert_eq!(of("Areas: square root").aside, "now");
        let Does::Set(wanted) = &of("Names: off").does else { panic!("a setting") };
        assert!(!wanted.labels && wanted.name_count == now.name_count);
        assert!(!all.iter().any(|entry| entry.title == "Names: on"), "what is on can be put off");
        // What colours tell of and has to be found first is asked for.
        let Does::Set(wanted) = &of("Colour: retained").does else { panic!("a setting") };
        assert!(wanted.closures.contains(&ClosureMetric::Retained));
        assert_eq!(
            (of("Theme: dark").aside.as_str(), of("Opacity of buildings: usual").aside.as_str()),
            ("now", "now")
        );
    }

    #[test]
    fn settings_are_about_pauses_where_these_are_what_is_told() {
        for (noun, titles) in [
            (GcNoun::Collections, ["Starts of collections too: on", "Collections below trends: off"]),
            (GcNoun::Pauses, ["Starts of pauses too: on", "Pauses below trends: off"]),
        ] {
            let mut now = Settings { gc_starts: false, ..Settings::default() };
            now.trends.strip = true;
            let all = settings(&now, noun);
            for title in titles {
                assert!(all.iter().any(|entry| entry.title == title), "{title}");
            }
        }
    }

    #[test]
    fn every_action_is_offered_once() {
        let all = actions();
        for binding in BINDINGS.iter().filter(|b| !b.help.is_empty() && b.action != Action::Palette) {
            assert_eq!(all.iter().filter(|e| e.does == Does::Act(binding.action)).count(), 1, "{}", binding.help);
        }
    }
}
