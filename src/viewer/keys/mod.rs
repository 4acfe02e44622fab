//! The keys of actions: the table of [`super::action`], and a person's changes to it in the file `keys.json` of the folder of settings.
//! The file is read once, at the start, and checked: each mistake is logged, and the table's own keys stay.
//!
//! ```json
//! { "Play": ["Ctrl+P"], "Next": ["Period"], "Mark": [], "FlyAhead": ["Up"], "FlyBack": ["Down"] }
//! ```
//!
//! Keys that are held to fly are there too, each direction by a name of its own.

mod chord;
#[cfg(test)]
mod named;

use super::action::{Action, BINDINGS, Binding};
use bevy::prelude::KeyCode;
pub use chord::Chord;
use chord::{chord, printed};
use std::path::Path;
use std::sync::OnceLock;

const FILE: &str = "keys.json";
/// Largest size of the file.
const MOST_BYTES: u64 = 1 << 16;

/// Direction of the camera while a key is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flight {
    /// Along the view.
    Ahead,
    /// To its left.
    Left,
    /// Away from it.
    Back,
    /// To the right.
    Right,
    /// Away from the ground.
    Up,
    /// To the ground.
    Down,
}

impl Flight {
    /// All of them, in the order of the cheat sheet.
    const ALL: [Flight; 6] = [Flight::Ahead, Flight::Left, Flight::Back, Flight::Right, Flight::Up, Flight::Down];

    /// Its key in the table.
    const fn built_in(self) -> KeyCode {
        match self {
            Flight::Ahead => KeyCode::KeyW,
            Flight::Left => KeyCode::KeyA,
            Flight::Back => KeyCode::KeyS,
            Flight::Right => KeyCode::KeyD,
            Flight::Up => KeyCode::KeyQ,
            Flight::Down => KeyCode::KeyE,
        }
    }
}

/// All chords with their actions, keys to fly, and how those of a person are printed.
pub struct KeyMap {
    chords: Vec<(Chord, Action)>,
    printed: Vec<(Action, String)>,
    flights: Vec<(KeyCode, Flight)>,
}

/// The flight of a name in the file: `FlyAhead` and so on.
fn flight(name: &str) -> Option<Flight> {
    Flight::ALL.into_iter().find(|flight| format!("Fly{flight:?}") == name)
}

/// Chords of a list of keys in the file; mistakes are reported one by one. `None` leaves the table's own keys.
fn chords<T>(
    name: &str,
    keys: &serde_json::Value,
    read: impl Fn(&str) -> Result<T, String>,
    wrong: &mut Vec<String>,
) -> Option<Vec<T>> {
    let Some(keys) = keys.as_array() else {
        wrong.push(format!("{name}: its keys are to be a list of texts"));
        return None;
    };
    let mut all = Vec::new();
    for key in keys {
        match key.as_str().ok_or_else(|| "it is no text".to_owned()).and_then(&read) {
            Ok(one) => all.push(one),
            Err(why) => wrong.push(format!("{name}: {key}: {why}")),
        }
    }
    // None may be wished for; but if none of them can be used, it keeps its own.
    (keys.is_empty() || !all.is_empty()).then_some(all)
}

impl KeyMap {
    /// The table without changes.
    fn built_in() -> KeyMap {
        let chords = BINDINGS.iter().flat_map(|b| {
            b.keys.iter().map(|&key| (Chord { key, shift: b.shift, control: b.control, alt: b.alt }, b.action))
        });
        let flights = Flight::ALL.map(|flight| (flight.built_in(), flight));
        KeyMap { chords: chords.collect(), printed: Vec::new(), flights: flights.to_vec() }
    }

    /// The table with the changes of a file; and the mistakes in the file.
    fn with(text: &str) -> (KeyMap, Vec<String>) {
        let mut map = KeyMap::built_in();
        let mut wrong = Vec::new();
        let wished: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(text) {
            Ok(wished) => wished,
            Err(error) => return (map, vec![format!("it is no object of actions with lists of keys: {error}")]),
        };
        // What flies comes first: which keys are free for actions depends on it.
        let (flights, actions): (Vec<_>, Vec<_>) =
            wished.iter().map(|(name, keys)| (name, keys, flight(name))).partition(|(_, _, flight)| flight.is_some());
        for (name, keys, flight) in flights {
            let alone = |wish: Chord| match wish {
                Chord { key, shift: false, control: false, alt: false } => Ok(key),
                _ => Err("what is held to fly is a key alone: Shift makes it faster".to_owned()),
            };
            let Some(keys) = chords(name, keys, |text| chord(text).and_then(alone), &mut wrong) else { continue };
            map.flights.retain(|(key, other)| Some(*other) != flight && !keys.contains(key));
            // What the keys did before they do no more; commands of the same letter stay.
            map.chords.retain(|(chord, _)| chord.control || chord.alt || !keys.contains(&chord.key));
            map.flights.extend(keys.into_iter().filter_map(|key| Some((key, flight?))));
        }
        for (name, keys, _) in actions {
            let Some(action) = BINDINGS.iter().map(|b| b.action).find(|action| format!("{action:?}") == *name) else {
                wrong.push(format!("{name}: there is no such action"));
                continue;
            };
            let flown = |wish: Chord| match map.flights.iter().any(|(key, _)| *key == wish.key) {
                true if !wish.control && !wish.alt => {
                    Err("it is held to fly: with Ctrl or Alt it is free, or give that flight another key".to_owned())
                }
                _ => Ok(wish),
            };
            let free = |text: &str| chord(text).and_then(flown).map(|chord| (chord, text.to_owned()));
            let Some(given) = chords(name, keys, free, &mut wrong) else { continue };
            let (given, texts): (Vec<Chord>, Vec<String>) = given.into_iter().unzip();
            // The action has these keys and no others, and what they did before is done by them no more.
            map.chords.retain(|(chord, bound)| *bound != action && !given.contains(chord));
            map.chords.extend(given.into_iter().map(|chord| (chord, action)));
            map.printed.retain(|(other, _)| *other != action);
            map.printed.push((action, texts.join("  ")));
        }
        map.tell_what_is_left();
        (map, wrong)
    }

    /// An action whose keys were given to others is printed with those that it has left.
    fn tell_what_is_left(&mut self) {
        let whole = KeyMap::built_in();
        for (_, action) in &whole.chords {
            let of = |map: &KeyMap| -> Vec<Chord> {
                map.chords.iter().filter(|(_, bound)| bound == action).map(|(chord, _)| *chord).collect()
            };
            let left = of(self);
            if self.is_built_in(*action) && left != of(&whole) {
                let texts: Vec<String> = left.into_iter().map(Chord::printed).collect();
                self.printed.push((*action, texts.join("  ")));
            }
        }
    }

    /// The action of a key, with its modifier keys.
    pub fn action(&self, key: KeyCode, (shift, control, alt): (bool, bool, bool)) -> Option<Action> {
        let fits = |c: &Chord| {
            c.key == key && (c.control, c.alt) == (control, alt) && (c.shift == shift || !c.shift && !c.control)
        };
        // Later ones are those of a person.
        self.chords.iter().rev().find(|(chord, _)| fits(chord)).map(|(_, action)| *action)
    }

    /// The keys of an action for people.
    pub fn printed(&self, action: Action) -> &str {
        let own = self.printed.iter().find(|(other, _)| *other == action).map(|(_, text)| text.as_str());
        own.unwrap_or(action.binding().printed)
    }

    /// The first key of an action, within a sentence; without one, another way to do it.
    pub fn key(&self, action: Action) -> &str {
        match self.printed(action).split("  ").next() {
            Some("") | None => "its line in the palette",
            Some(key) => key,
        }
    }

    /// A text with the key of an action behind it, as buttons and tooltips have it: `Cut  [Del]`. The text alone where there is none.
    pub fn beside(&self, text: &str, action: Action) -> String {
        match self.printed(action) {
            "" => text.to_owned(),
            printed => format!("{text}  [{printed}]"),
        }
    }

    /// How far keys fly in a direction and not in the one against it: 1, 0 or -1. `held` says which keys are.
    pub fn flown(&self, to: Flight, against: Flight, held: impl Fn(KeyCode) -> bool) -> f32 {
        let pulls = |wanted: Flight| self.flights.iter().any(|&(key, flight)| flight == wanted && held(key));
        f32::from(u8::from(pulls(to))) - f32::from(u8::from(pulls(against)))
    }

    /// The keys of some flights for people, such as `W  A  S  D`.
    pub fn printed_flights(&self, flights: &[Flight]) -> String {
        let keys_of = |wanted: &Flight| {
            let keys = self.flights.iter().filter(|(_, flight)| flight == wanted).map(|(key, _)| printed(*key));
            Some(keys.collect::<Vec<_>>().join("/")).filter(|keys| !keys.is_empty()).unwrap_or_else(|| "-".to_owned())
        };
        flights.iter().map(keys_of).collect::<Vec<_>>().join("  ")
    }

    /// Description of an action, in a line. The table's mention of further keys is left out if a person has changed them.
    pub fn help(&self, binding: &Binding) -> &'static str {
        match binding.help.split_once(" (also ") {
            Some((help, _)) if !self.is_built_in(binding.action) => help,
            _ => binding.help,
        }
    }

    /// Whether an action has the keys of the table.
    pub fn is_built_in(&self, action: Action) -> bool {
        self.printed.iter().all(|(other, _)| *other != action)
    }
}

static MAP: OnceLock<KeyMap> = OnceLock::new();

/// The keys of this run.
pub fn map() -> &'static KeyMap {
    MAP.get_or_init(KeyMap::built_in)
}

/// The key of an action of this run, within a sentence ([`KeyMap::key`]).
pub fn key(action: Action) -> &'static str {
    map().key(action)
}

/// A text with the key of an action of this run behind it ([`KeyMap::beside`]).
pub fn beside(text: &str, action: Action) -> String {
    map().beside(text, action)
}

/// Reads the file of a person, before the first key is asked for.
pub fn read() {
    let Some(path) = crate::config::folder().map(|folder| folder.join(FILE)) else { return };
    if let Some((map, wrong)) = read_from(&path) {
        for why in wrong {
            tracing::warn!("{}: {why}. The other keys are as they were", path.display());
        }
        tracing::debug!("keys: read from {}", path.display());
        let _ = MAP.set(map);
    }
}

fn read_from(path: &Path) -> Option<(KeyMap, Vec<String>)> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > MOST_BYTES {
        return Some((KeyMap::built_in(), vec![format!("{size} bytes are more than keys take")]));
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Some(KeyMap::with(&text)),
        Err(error) => Some((KeyMap::built_in(), vec![error.to_string()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: (bool, bool, bool) = (false, false, false);

    /// The `keys.json` that docs/read-the-city.md shows is one.
    #[test]
    fn the_example_on_the_page_is_read() {
        let blocks = include_str!("../../../docs/read-the-city.md").split("```json\n").skip(1);
        let mut examples =
            blocks.filter_map(|block| block.split("```").next()).filter(|block| block.contains("FlyAhead"));
        let (_, wrong) = KeyMap::with(examples.next().expect("the example"));
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn keys_of_a_person_take_the_place_of_the_tables() {
        let (map, wrong) = KeyMap::with(r#"{"Play": ["Ctrl+P", "f7"], "Next": ["Space"], "Mark": []}"#);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(map.action(KeyCode::KeyP, (false, true, false)), Some(Action::Play));
        assert_eq!(map.action(KeyCode::F7, NONE), Some(Action::Play));
        // What had the key before has it no more.
        assert_eq!(map.action(KeyCode::Space, NONE), Some(Action::Next));
        assert_eq!(map.action(KeyCode::KeyN, NONE), None);
        assert_eq!(map.action(KeyCode::KeyK, NONE), None, "an action may have no key");
        assert_eq!((map.printed(Action::Play), map.printed(Action::Reset)), ("Ctrl+P  f7", "R"));
        assert_eq!(map.printed(Action::Palette), "Ctrl+K", "Ctrl+P plays now");
        assert!(map.is_built_in(Action::Reset) && !map.is_built_in(Action::Play));
    }

    #[test]
    fn a_question_mark_can_be_given_away_and_taken() {
        let question = |text: &str| {
            let (map, wrong) = KeyMap::with(text);
            assert_eq!(wrong, Vec::<String>::new(), "{text}");
            let Chord { key, shift, control, alt } = Chord::QUESTION;
            (map.action(key, (shift, control, alt)), map.printed(Action::Help).to_owned())
        };
        assert_eq!(question("{}"), (Some(Action::Help), "?".to_owned()));
        assert_eq!(question(r#"{"Help": ["F2"]}"#), (None, "F2".to_owned()));
        assert_eq!(question(r#"{"Play": ["?"]}"#), (Some(Action::Play), "F1".to_owned()));
        assert_eq!(question(r#"{"Help": ["Ctrl+H", "?"]}"#), (Some(Action::Help), "Ctrl+H  ?".to_owned()));
    }

    #[test]
    fn keys_that_are_held_to_fly_can_be_others() {
        let text = r#"{"FlyAhead": ["Up", "W"], "FlyDown": ["PageDown"], "FlyLeft": [], "Mark": ["E"], "Next": ["A", "Right"]}"#;
        let (map, wrong) = KeyMap::with(text);
        assert_eq!(wrong, Vec::<String>::new());
        let ahead = |key: KeyCode| map.flown(Flight::Ahead, Flight::Back, |held| held == key);
        assert_eq!([KeyCode::ArrowUp, KeyCode::KeyW, KeyCode::KeyS, KeyCode::KeyQ].map(ahead), [1.0, 1.0, -1.0, 0.0]);
        assert_eq!(map.flown(Flight::Ahead, Flight::Back, |_| true), 0.0, "both at once");
        assert_eq!(map.flown(Flight::Right, Flight::Left, |held| held == KeyCode::KeyA), 0.0, "nothing flies left");
        // Letters that nothing flies with any more are free, and what flies now does nothing else.
        assert_eq!(map.action(KeyCode::KeyE, NONE), Some(Action::Mark));
        assert_eq!(map.action(KeyCode::KeyA, NONE), Some(Action::Next));
        assert_eq!(map.action(KeyCode::ArrowUp, NONE), None);
        let (left, _) = KeyMap::with(r#"{"FlyUp": ["R", "N"], "FlyLeft": ["J"]}"#);
        assert_eq!(
            [Action::Reset, Action::Next, Action::Repeat].map(|a| left.printed(a)),
            ["Ctrl+Home  F5", "Right  Up", ""]
        );
        assert_eq!(map.action(KeyCode::KeyE, (false, true, false)), Some(Action::OpenCode), "commands stay");
        assert_eq!(map.printed_flights(&[Flight::Ahead, Flight::Left, Flight::Back]), "Up/W  -  S");
        assert_eq!(map.printed_flights(&[Flight::Down]), "Pagedown");
        for wrongly in [r#"{"FlyUp": ["Ctrl+X"]}"#, r#"{"FlyUp": 3}"#, r#"{"FlyUp": ["Hyper"]}"#] {
            let (map, wrong) = KeyMap::with(wrongly);
            assert_eq!((wrong.len(), map.printed_flights(&[Flight::Up])), (1, "Q".to_owned()), "{wrongly}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_and_the_table_stands() {
        for text in [
            "[]",
            "",
            "{\"Play\": 7}",
            "{\"Play\": [7]}",
            "{\"Fly\": [\"X\"]}",
            "{\"Play\": [\"Hyper+X\"]}",
            "{\"Play\": [\"\"]}",
            "{\"Play\": [\"W\"]}",
            "{\"Play\": [\"f99\"]}",
            "{\"Play\": [\"é\"]}",
            "{\"Play\": [\"+\"]}",
        ] {
            let (map, wrong) = KeyMap::with(text);
            assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
            assert_eq!(map.action(KeyCode::Space, NONE), Some(Action::Play), "{text}");
        }
    }

    /// Expected content of `docs/keys.md`. `UPDATE_GOLDEN=keys` writes it.
    #[test]
    fn the_page_of_keys_has_every_action() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let (head, _) = text.split_once("\n| ").expect("a page with a table");
        let mut wanted = format!("{head}\n| name | keys | what it does |\n|---|---|---|\n");
        let mut told: Vec<Action> = Vec::new();
        for binding in BINDINGS.iter().filter(|b| !b.help.is_empty()) {
            if !told.contains(&binding.action) {
                told.push(binding.action);
                let all = BINDINGS.iter().filter(|b| b.action == binding.action).map(|b| b.printed);
                let keys = all.collect::<Vec<_>>().join("  ").split("  ").collect::<Vec<_>>().join(", ");
                wanted += &format!("| `{:?}` | {keys} | {} |\n", binding.action, binding.help);
            }
        }
        for flight in Flight::ALL {
            let key = printed(flight.built_in());
            wanted += &format!("| `Fly{flight:?}` | {key} | Held: flies {} |\n", format!("{flight:?}").to_lowercase());
        }
        if std::env::var("UPDATE_GOLDEN").is_ok_and(|names| names.split(',').any(|name| name == "keys")) {
            std::fs::write(&path, &wanted).expect("written");
        } else {
            assert_eq!(text, wanted, "docs/keys.md is not what the table says: UPDATE_GOLDEN=keys");
        }
    }

    #[test]
    fn the_table_means_what_it_says() {
        let map = KeyMap::built_in();
        for binding in BINDINGS {
            for &key in binding.keys {
                let held = (binding.shift, binding.control, binding.alt);
                assert_eq!(map.action(key, held), Some(binding.action), "{key:?}");
            }
        }
        assert_eq!(map.action(KeyCode::KeyN, (true, false, false)), Some(Action::Next), "Shift does not matter to it");
        assert_eq!(map.action(KeyCode::KeyO, (true, true, false)), Some(Action::OpenFolder));
    }
}
