//! What the palette offers beside groups: everything with a name that can be done, chosen or gone to. Which of them fit a text, and in
//! which order, is decided here; nothing here draws.

use crate::viewer::action::{Action, BINDINGS};
use crate::viewer::settings::Settings;
use memory_city_views::city::{AreaMode, colour, height};

/// What an entry does.
#[derive(Clone, Debug, PartialEq)]
pub enum Does {
    /// As its key does.
    Act(Action),
    /// Changes a setting.
    Set(Box<Settings>),
    /// Groups by it.
    Group(String),
    /// Shows a view.
    View(&'static str),
    /// Goes to a bookmark, by its place.
    Bookmark(usize),
    /// Goes to a point in time.
    Time(usize),
}

/// One line of the palette.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteEntry {
    /// What kind it is: its heading.
    pub kind: &'static str,
    /// What it is called.
    pub title: String,
    /// What stands beside it: the key, or what is so now.
    pub aside: String,
    /// What it does.
    pub does: Does,
}

/// All that can be done by a key.
pub fn actions() -> Vec<PaletteEntry> {
    let entry = |b: &crate::viewer::action::Binding| PaletteEntry {
        kind: "Actions",
        title: b.help.to_owned(),
        aside: b.printed.to_owned(),
        does: Does::Act(b.action),
    };
    let offered = |b: &&crate::viewer::action::Binding| !b.help.is_empty() && b.action != Action::Palette;
    BINDINGS.iter().filter(offered).map(entry).collect()
}

/// All settings that are a choice, as they would be after it.
pub fn settings(now: &Settings) -> Vec<PaletteEntry> {
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
        add(format!("Colour: {}", mode.title.to_lowercase()), &|s| s.colour = mode.id.to_owned());
    }
    for rule in height::rules() {
        add(format!("Height: {}", rule.title.to_lowercase()), &|s| s.height = rule.id.to_owned());
    }
    let mut switch = |title: &str, is: bool, set: &dyn Fn(&mut Settings, bool)| {
        add(format!("{title}: {}", if is { "off" } else { "on" }), &|s| set(s, !is));
    };
    switch("Names", now.labels, &|s, on| s.labels = on);
    switch("References", now.show_pointers, &|s, on| s.show_pointers = on);
    switch("References that keep the selection", now.show_incoming, &|s, on| s.show_incoming = on);
    switch("References to what the selection keeps", now.show_outgoing, &|s, on| s.show_outgoing = on);
    switch("Shadows", now.shadows, &|s, on| s.shadows = on);
    switch("Only the largest children have plots", now.prune, &|s, on| s.prune = on);
    switch("Starts of collections too", now.gc_starts, &|s, on| s.gc_starts = on);
    switch("Unreachable objects too", now.include_unreachable, &|s, on| s.include_unreachable = on);
    for (title, percent) in [("normal", 100u16), ("large", 140), ("very large", 200)] {
        add(format!("Size of names: {title}"), &|s| s.name_size = f32::from(percent) / 100.0);
    }
    for (title, count) in [("few", 12), ("normal", 40), ("many", 120)] {
        add(format!("Number of names: {title}"), &|s| s.name_count = count);
    }
    entries
}

/// How well an entry fits the words of a text: the smaller the better; `None` where a word is missing. Words may stand in any order.
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

/// The entries that fit, the best first of each kind, kinds in the order in which they come; at most `most` of each. And how many
/// fit.
pub fn fitting(entries: &[PaletteEntry], text: &str, most: usize) -> (Vec<PaletteEntry>, usize) {
    let mut kinds: Vec<(&'static str, Vec<(u32, &PaletteEntry)>)> = Vec::new();
    let mut all = 0;
    for entry in entries {
        let Some(fit) = fit(entry, text) else { continue };
        all += 1;
        match kinds.iter_mut().find(|(kind, _)| *kind == entry.kind) {
            Some((_, of_kind)) => of_kind.push((fit, entry)),
            None => kinds.push((entry.kind, vec![(fit, entry)])),
        }
    }
    let mut listed = Vec::new();
    for (_, mut of_kind) in kinds {
        // Equal ones stay in their order.
        of_kind.sort_by_key(|(fit, _)| *fit);
        listed.extend(of_kind.into_iter().take(most).map(|(_, entry)| entry.clone()));
    }
    (listed, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        let all: Vec<PaletteEntry> = actions().into_iter().chain(settings(&Settings::default())).collect();
        fitting(&all, text, 5).0.into_iter().map(|entry| entry.title).collect()
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
        let all = settings(&now);
        let of = |title: &str| all.iter().find(|entry| entry.title == title).unwrap_or_else(|| panic!("{title}"));
        assert_eq!(of("Areas: square root").aside, "now");
        let Does::Set(wanted) = &of("Names: off").does else { panic!("a setting") };
        assert!(!wanted.labels && wanted.name_count == now.name_count);
        assert!(!all.iter().any(|entry| entry.title == "Names: on"), "what is on can be put off");
    }

    #[test]
    fn every_action_is_offered_once() {
        let all = actions();
        for binding in BINDINGS.iter().filter(|b| !b.help.is_empty() && b.action != Action::Palette) {
            assert_eq!(all.iter().filter(|e| e.does == Does::Act(binding.action)).count(), 1, "{}", binding.help);
        }
    }
}
