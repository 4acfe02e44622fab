//! The actions of the user, each with its key or button: one table that key handling, buttons and the cheat sheet read.

use super::keys::Flight;
use bevy::prelude::{KeyCode, Message};

/// A thing to do once. Flying is not here: its keys are held, see [`FLY_KEYS`].
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The next point in time.
    Next,
    /// The previous point in time.
    Previous,
    /// The first point in time.
    First,
    /// The last point in time.
    Last,
    /// Automatic play on or off.
    Play,
    /// Playing over and over, or once.
    Repeat,
    /// The whole city from above.
    BirdsEye,
    /// The first view again.
    Reset,
    /// Flies to the selected building.
    Focus,
    /// The whole city from the south.
    FromSouth,
    /// The whole city from the east.
    FromEast,
    /// The whole city from the north.
    FromNorth,
    /// The whole city from the west.
    FromWest,
    /// A plan of the city: straight from above, without perspective.
    PlanView,
    /// Switches to the next effect of drags and keys on the camera.
    Navigation,
    /// Text and panels larger.
    Larger,
    /// Text and panels smaller.
    Smaller,
    /// Text and panels by the height of the screen.
    OwnScale,
    /// Clears the selection; closes the cheat sheet; cancels loading.
    Escape,
    /// Selects the next owner of the selection, up to the root.
    FollowOwner,
    /// The ways from GC roots to the selection, shown or put away.
    RootPaths,
    /// Shows the memory that would be freed without the chosen step of a way.
    Cut,
    /// Back to the building selected before.
    Back,
    /// Marks the selected group.
    Mark,
    /// The palette: find anything, do anything.
    Palette,
    /// Keeps time, camera and selection as a bookmark.
    Bookmark,
    /// Shows the selected district, or the groups behind "n more", as its own city.
    DrillIn,
    /// Back to the city around.
    DrillOut,
    /// Cones on or off.
    Pointers,
    /// The next colour mode of those that need nothing found first.
    Colour,
    /// Names on or off.
    Labels,
    /// The next metric: objects, bytes, further ones.
    Metric,
    /// Compares all times with the one shown, or nothing any more.
    Compare,
    /// Base and shown time change places.
    SwapBase,
    /// Compares the open input with another run, chosen in a card.
    CompareRuns,
    /// Objects born, dead and surviving between base and shown time, as trees.
    DifferenceTrees,
    /// Back from a comparison to the earlier document.
    EndComparison,
    /// Several times beside each other: 4, 9, 16, one alone.
    Multiples,
    /// Linear or square root areas.
    AreaMode,
    /// Panels shown or hidden.
    Panels,
    /// Opens inputs through the file dialog.
    OpenFiles,
    /// Opens a folder of inputs through the file dialog.
    OpenFolder,
    /// Closes the open document.
    Close,
    /// Starts or stops to listen for programs.
    Listen,
    /// The list of running JVMs, to record one.
    Record,
    /// Ends the recording that this window has begun.
    StopRecording,
    /// Divides the ground of a live city again.
    ReLayout,
    /// Groups by owner and flies to the leak.
    ShowOwner,
    /// Shows the leak, or puts it away.
    Finding,
    /// Another of the places that grow, where there are several.
    NextPlace,
    /// The inspector, on the selection.
    Inspect,
    /// Back to the earlier stop in the inspector.
    InspectorBack,
    /// Forward to the later stop.
    InspectorForward,
    /// Opens the code of the selection in an editor.
    OpenCode,
    /// Asks which editor opens code, and where sources are.
    NameEditor,
    /// The grouping editor.
    Groupings,
    /// Saves the picture as a PNG.
    Screenshot,
    /// Saves the shown data to a file that a person chooses: picture, view, table, scene.
    Save,
    /// Saves the content of a view as CSV.
    ExportCsv,
    /// The hint of a view in sight, shown or put away.
    Hint,
    /// The first step of the hint that is open.
    HintStep,
    /// The cheat sheet.
    Help,
}

/// How an action is reached and explained.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The action.
    pub action: Action,
    /// Its keys; any of them does it.
    pub keys: &'static [KeyCode],
    /// The keys as printed.
    pub printed: &'static str,
    /// Whether Shift must be held (otherwise it must not matter).
    pub shift: bool,
    /// Whether Control must be held.
    pub control: bool,
    /// Whether Alt must be held.
    pub alt: bool,
    /// Description in a line.
    pub help: &'static str,
}

const fn bind(action: Action, keys: &'static [KeyCode], printed: &'static str, help: &'static str) -> Binding {
    Binding { action, keys, printed, shift: false, control: false, alt: false, help }
}

const fn control(mut binding: Binding) -> Binding {
    binding.control = true;
    binding
}

const fn alt(mut binding: Binding) -> Binding {
    binding.alt = true;
    binding
}

const fn shift(mut binding: Binding) -> Binding {
    binding.shift = true;
    binding
}

/// All bindings, in the order of the cheat sheet.
pub const BINDINGS: &[Binding] = &[
    bind(Action::Next, &[KeyCode::KeyN, KeyCode::ArrowRight, KeyCode::ArrowUp], "N  Right  Up", "Next point in time"),
    bind(
        Action::Previous,
        &[KeyCode::KeyP, KeyCode::ArrowLeft, KeyCode::ArrowDown],
        "P  Left  Down",
        "Previous point in time",
    ),
    bind(Action::First, &[KeyCode::Home], "Home", "First point in time"),
    bind(Action::Last, &[KeyCode::End], "End", "Last point in time"),
    bind(Action::Play, &[KeyCode::Space], "Space", "Play or pause"),
    bind(Action::Repeat, &[KeyCode::KeyJ], "J", "Play over and over, or once"),
    bind(
        Action::Reset,
        &[KeyCode::KeyR],
        "R",
        "The whole city again, wherever you are (also F5 and Ctrl+Home, while you write too)",
    ),
    bind(Action::BirdsEye, &[KeyCode::KeyB], "B", "Bird's-eye view"),
    control(bind(Action::Reset, &[KeyCode::Home], "Ctrl+Home", "")),
    bind(Action::Reset, &[KeyCode::F5], "F5", ""),
    bind(Action::Focus, &[KeyCode::KeyF], "F", "Fly to the selected building"),
    bind(Action::FromSouth, &[KeyCode::Digit1], "1", "The whole city from the south"),
    bind(Action::FromEast, &[KeyCode::Digit2], "2", "The whole city from the east"),
    bind(Action::FromNorth, &[KeyCode::Digit3], "3", "The whole city from the north"),
    bind(Action::FromWest, &[KeyCode::Digit4], "4", "The whole city from the west"),
    bind(Action::PlanView, &[KeyCode::Digit5], "5", "Plan: straight from above without perspective, a treemap"),
    bind(Action::Navigation, &[KeyCode::Digit6], "6", "Drags and keys: orbit, fly, first person"),
    control(bind(Action::Larger, &[KeyCode::Equal, KeyCode::NumpadAdd], "Ctrl+Plus", "Text and panels larger")),
    control(bind(Action::Smaller, &[KeyCode::Minus, KeyCode::NumpadSubtract], "Ctrl+Minus", "Text and panels smaller")),
    control(bind(Action::OwnScale, &[KeyCode::Digit0], "Ctrl+0", "Text and panels by the height of the screen")),
    bind(
        Action::FollowOwner,
        &[KeyCode::Enter],
        "Enter",
        "Follow the owner: select what keeps the selection's objects alive, up to the GC root",
    ),
    bind(Action::RootPaths, &[KeyCode::KeyU], "U", "Up to the roots: draw and list the ways that keep the selection"),
    bind(Action::Cut, &[KeyCode::Delete], "Del", "Cut the chosen step of a way: show what would be freed (Esc undoes)"),
    bind(
        Action::ShowOwner,
        &[KeyCode::KeyO],
        "O",
        "Show what leaks: group by owner, and fly to the place that fills up",
    ),
    bind(Action::Finding, &[KeyCode::KeyH], "H", "Show or hide the card that says what leaks"),
    bind(
        Action::Hint,
        &[KeyCode::F2],
        "F2",
        "Show or hide the hint of a view: what to look at, why it matters, and the next step",
    ),
    shift(bind(
        Action::HintStep,
        &[KeyCode::F2],
        "Shift+F2",
        "Do the first step of the hint; where none is open, it opens first",
    )),
    alt(bind(
        Action::NextPlace,
        &[KeyCode::KeyO],
        "Alt+O",
        "The next place that leaks, where there are several; O shows it",
    )),
    control(bind(
        Action::Groupings,
        &[KeyCode::KeyG],
        "Ctrl+G",
        "Grouping editor: tasks, any list of classifiers, scripts of your own",
    )),
    bind(Action::Back, &[KeyCode::Backspace], "Backspace", "Back along the owners, or to the building selected before"),
    bind(
        Action::Inspect,
        &[KeyCode::KeyI],
        "I",
        "Inspect the selection: what it reaches and retains, and its objects one by one",
    ),
    control(bind(
        Action::OpenCode,
        &[KeyCode::KeyE],
        "Ctrl+E",
        "Open the selected allocation site, file and line, in your editor",
    )),
    shift(control(bind(
        Action::NameEditor,
        &[KeyCode::KeyE],
        "Ctrl+Shift+E",
        "Name the editor that opens code, and the folders with sources",
    ))),
    alt(bind(
        Action::InspectorBack,
        &[KeyCode::ArrowLeft],
        "Alt+Left",
        "Inspector: back (also the fourth button of the mouse)",
    )),
    alt(bind(Action::InspectorForward, &[KeyCode::ArrowRight], "Alt+Right", "Inspector: forward (the fifth button)")),
    bind(
        Action::Mark,
        &[KeyCode::KeyK],
        "K",
        "Mark the selected group: a colour of its own, and its name stays in sight",
    ),
    control(bind(
        Action::Palette,
        &[KeyCode::KeyK, KeyCode::KeyP],
        "Ctrl+K  Ctrl+P",
        "Find: groups by name, glob or expression; actions, settings, groupings, bookmarks",
    )),
    control(bind(Action::Bookmark, &[KeyCode::KeyB], "Ctrl+B", "Bookmark the time, the view and the selection")),
    control(bind(
        Action::DrillIn,
        &[KeyCode::Enter],
        "Ctrl+Enter",
        "Show the district, or what is behind \"n more\", as its own city",
    )),
    control(bind(Action::DrillOut, &[KeyCode::Backspace], "Ctrl+Backspace", "Back to the city around it")),
    bind(
        Action::Escape,
        &[KeyCode::Escape],
        "Esc",
        "End a cut, ways, several times, a search; deselect; close; cancel loading",
    ),
    bind(Action::Pointers, &[KeyCode::KeyX], "X", "Show or hide reference cones"),
    bind(
        Action::Colour,
        &[KeyCode::KeyC],
        "C",
        "The next thing that colours tell: growth, more or less, share, age, ..., nothing",
    ),
    bind(Action::Labels, &[KeyCode::KeyL], "L", "Names on or off"),
    bind(Action::Metric, &[KeyCode::KeyM], "M", "Measure objects, bytes, or what else there is"),
    bind(
        Action::Compare,
        &[KeyCode::KeyV],
        "V",
        "Compare with the time shown: it becomes the base; again, and nothing is compared",
    ),
    bind(Action::SwapBase, &[KeyCode::KeyZ], "Z", "Base and shown time change places"),
    shift(control(bind(
        Action::CompareRuns,
        &[KeyCode::KeyD],
        "Ctrl+Shift+D",
        "Compare with another run: before and after a fix, or two versions",
    ))),
    control(bind(
        Action::DifferenceTrees,
        &[KeyCode::KeyD],
        "Ctrl+D",
        "What was born, died and survived between base and shown time, in every view",
    )),
    shift(control(bind(
        Action::EndComparison,
        &[KeyCode::KeyW],
        "Ctrl+Shift+W",
        "Back to what was open before it was compared",
    ))),
    bind(Action::Multiples, &[KeyCode::KeyY], "Y", "4, 9 or 16 times beside each other, or one alone"),
    bind(Action::AreaMode, &[KeyCode::KeyT], "T", "Areas linear or square root"),
    bind(Action::Panels, &[KeyCode::Tab], "Tab", "Show or hide the panels"),
    control(bind(
        Action::OpenFiles,
        &[KeyCode::KeyO],
        "Ctrl+O",
        "Open heap dumps, a trace, a recording, or memory trees (JSON)",
    )),
    shift(control(bind(Action::OpenFolder, &[KeyCode::KeyO], "Ctrl+Shift+O", "Open a folder of dumps or trees"))),
    control(bind(Action::Close, &[KeyCode::KeyW], "Ctrl+W", "Close what is open")),
    control(bind(Action::Listen, &[KeyCode::KeyL], "Ctrl+L", "Listen for programs that send their trees, or stop")),
    #[cfg(target_os = "linux")]
    control(bind(
        Action::Record,
        &[KeyCode::KeyR],
        "Ctrl+R",
        "Record a running JVM: choose from a list, and its city grows live",
    )),
    #[cfg(target_os = "linux")]
    shift(control(bind(
        Action::StopRecording,
        &[KeyCode::KeyR],
        "Ctrl+Shift+R",
        "Stop recording: the program is left as it was",
    ))),
    bind(
        Action::ReLayout,
        &[KeyCode::KeyG],
        "G",
        "Re-layout: divide the ground anew, of a live city for all that has come, else for base to shown time, or for all",
    ),
    bind(Action::Screenshot, &[KeyCode::F12], "F12", "Save the picture as a PNG"),
    control(bind(
        Action::Save,
        &[KeyCode::F12],
        "Ctrl+F12",
        "Save what is shown as picture, page, view file, table or 3D scene",
    )),
    shift(control(bind(
        Action::ExportCsv,
        &[KeyCode::KeyS],
        "Ctrl+Shift+S",
        "Save what a view shows as CSV, for spreadsheets",
    ))),
    shift(bind(Action::Help, &[KeyCode::Slash], "?", "This cheat sheet (also F1)")),
    bind(Action::Help, &[KeyCode::F1], "F1", ""),
];

/// Keys that are held: for the cheat sheet.
pub const FLY_KEYS: &[(&[Flight], &str)] = &[
    (&[Flight::Ahead, Flight::Left, Flight::Back, Flight::Right], "Fly forward, left, back, right (Shift: faster)"),
    (&[Flight::Up, Flight::Down], "Fly up, down"),
];

/// Mouse gestures: for the cheat sheet.
pub fn gestures() -> [(&'static str, String); 4] {
    let other = super::keys::key(Action::Navigation);
    [
        ("Wheel", "Fly towards the mouse pointer, or back".to_owned()),
        ("Drag", format!("Turn the city around the point under the pointer ({other}: look around instead)")),
        ("Drag, wheel pressed", "Move it: what you take hold of stays under the pointer (also Shift+drag)".to_owned()),
        ("Click", "Select or deselect a building or district".to_owned()),
    ]
}

impl Action {
    /// How the action is reached.
    pub fn binding(self) -> &'static Binding {
        // Every action stands in the table: the test below holds it to that.
        BINDINGS.iter().find(|b| b.action == self).unwrap_or(&BINDINGS[0])
    }

    /// Tooltip: its effect and its key.
    pub fn tooltip(self) -> String {
        let map = super::keys::map();
        map.beside(map.help(self.binding()), self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_testing::{root, rust_files};

    #[test]
    fn every_action_is_bound_and_no_key_means_two_things() {
        for action in [
            Action::Next,
            Action::Previous,
            Action::First,
            Action::Last,
            Action::Play,
            Action::Repeat,
            Action::BirdsEye,
            Action::Reset,
            Action::Focus,
            Action::FromSouth,
            Action::FromEast,
            Action::FromNorth,
            Action::FromWest,
            Action::PlanView,
            Action::Navigation,
            Action::Larger,
            Action::Smaller,
            Action::OwnScale,
            Action::Escape,
            Action::FollowOwner,
            Action::RootPaths,
            Action::Cut,
            Action::Back,
            Action::ShowOwner,
            Action::Finding,
            Action::NextPlace,
            Action::Groupings,
            Action::Mark,
            Action::Palette,
            Action::Bookmark,
            Action::DrillIn,
            Action::DrillOut,
            Action::Pointers,
            Action::Colour,
            Action::Labels,
            Action::Metric,
            Action::Compare,
            Action::SwapBase,
            Action::CompareRuns,
            Action::DifferenceTrees,
            Action::EndComparison,
            Action::Multiples,
            Action::AreaMode,
            Action::Panels,
            Action::OpenFiles,
            Action::OpenFolder,
            Action::Close,
            Action::Listen,
            Action::Record,
            Action::StopRecording,
            Action::ReLayout,
            Action::Inspect,
            Action::OpenCode,
            Action::NameEditor,
            Action::InspectorBack,
            Action::InspectorForward,
            Action::Screenshot,
            Action::Save,
            Action::ExportCsv,
            Action::Help,
        ] {
            assert_eq!(action.binding().action, action);
            assert!(!action.binding().help.is_empty());
        }
        let mut seen = std::collections::HashSet::new();
        for binding in BINDINGS {
            for key in binding.keys {
                assert!(seen.insert((*key, binding.shift, binding.control, binding.alt)), "{key:?} is bound twice");
            }
        }
    }

    #[test]
    fn every_bound_action_is_handled_by_somebody() {
        let files = rust_files(&root().join("src/viewer")).into_iter().filter(|path| !path.ends_with("action.rs"));
        let all: Vec<String> = files.map(|path| std::fs::read_to_string(path).expect("a source file")).collect();
        for binding in BINDINGS {
            let name = format!("Action::{:?}", binding.action);
            // A match arm or a comparison; buttons and tooltips only name it.
            let handled = |text: &String| {
                [format!("{name} =>"), format!("== {name}"), format!("!= {name}")].iter().any(|form| {
                    text.match_indices(form.as_str())
                        .any(|(at, _)| !text[at + form.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                })
            };
            assert!(all.iter().any(handled), "{name} is bound and nobody handles it");
        }
    }
}
