//! The inspector in a real window: from groups to an object, along a reference to its content, back and forward, by
//! keys and by buttons of the mouse. Clicks go to the places that the trail reports.

use super::*;

/// A row of a list: where it stands, and its cells.
#[derive(Debug, Clone)]
pub(super) struct ListRow {
    x: u32,
    y: u32,
    cells: Vec<String>,
}

impl Session {
    /// Waits for a row of a list for which `is_it` holds. `list` is its name in the trail.
    pub(super) fn row(&mut self, list: &str, is_it: impl Fn(&[String]) -> bool) -> ListRow {
        let start = format!("{list}: ");
        let parse = |line: &str| -> Option<ListRow> {
            let (_, row) = line.split_once(&start)?;
            let (_, rest) = row.split_once(" at ")?;
            let (place, cells) = rest.split_once(": ")?;
            let (x, y) = place.split_once(", ")?;
            let cells: Vec<String> = cells.split(" | ").map(str::to_owned).collect();
            Some(ListRow { x: x.parse().ok()?, y: y.parse().ok()?, cells }).filter(|row| is_it(&row.cells))
        };
        // It may have been said already: since the list was turned to.
        let here = self.trail.iter().rposition(|line| line.contains("inspector: ")).unwrap_or(0);
        if !self.trail[here..].iter().any(|line| parse(line).is_some()) {
            while parse(&self.expect(&start)).is_none() {}
        }
        // Where it stands when all has been found: what comes later may still move it.
        self.rest();
        let listed = self.trail.iter().rposition(|line| line.contains(&format!("{start}list "))).expect("a list");
        self.trail[listed..].iter().find_map(|line| parse(line)).expect("it is still listed")
    }

    /// Back by keys. The result may be reported before the keys are.
    fn back(&mut self) {
        self.tool("xdotool", &["key", "alt+Left"]);
    }

    /// Puts the cursor on a row (where no link is), and follows it with Enter.
    pub(super) fn follow(&mut self, row: &ListRow, beside: u32) {
        self.click(row.x + beside, row.y);
        self.key("Return");
    }
}

/// Right of any field name, left of any value.
const BESIDE: u32 = 3;

#[test]
fn the_inspector_leads_from_groups_to_what_a_string_says() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&["open", &*sample], &environment);
    session.expect("city: person-leak");
    session.focus();
    session.expect("leak: ");
    session.key("h");
    session.rest();

    // Nothing is selected: the inspector says what could be.
    session.key("i");
    session.screenshot("inspector-0-empty");

    // Two rows of the list of what grows are one group.
    session.click(120, 97);
    let first = session.expect("selected: Heap#");
    // The mouse goes there first: while a key is held the window never rests.
    session.point(120, 122);
    session.rest();
    session.tool("xdotool", &["keydown", "ctrl"]);
    session.expect("key: Control");
    session.click(120, 122);
    session.expect(" + Heap#");
    let both = session.expect("selected: Heap#");
    session.tool("xdotool", &["keyup", "ctrl"]);
    assert!(both.contains(", Heap#"), "{first} and {both}");
    session.row("objects", |cells| cells.len() > 5);
    session.screenshot("inspector-1-groups");

    // Persons alone: further down the list.
    let person = (0..12).find(|row| {
        session.click(120, 97 + 25 * row);
        session.expect("selected: ").ends_with("#Person")
    });
    person.expect("persons grow");
    let a_person = session.row("objects", |cells| cells[0].starts_with("0x"));
    session.follow(&a_person, 140);
    session.expect("inspector: object of register.model.Person");
    // Its fields, with the text of each string.
    let name = session.row("fields", |cells| cells[0] == "name" && cells[1].starts_with('"'));
    assert_eq!(name.cells[2], "java.lang.String");
    let number = session.row("fields", |cells| cells[0] == "number");
    assert!(number.cells[1].parse::<u32>().is_ok(), "{number:?}");
    session.screenshot("inspector-2-object");

    // Along the reference to the string, which says its text; and to its bytes.
    session.follow(&name, BESIDE);
    session.expect("inspector: object of java.lang.String");
    let said = session.expect("inspector: says ");
    assert!(said.ends_with(&name.cells[1]), "{said}, not {}", name.cells[1]);
    let value = session.row("fields", |cells| cells[0] == "value" && cells[2] == "byte[]");
    session.screenshot("inspector-3-string");
    session.follow(&value, BESIDE);
    session.expect("inspector: object of byte[]");
    let bytes = session.row("bytes", |cells| cells.len() == 3);
    assert!(name.cells[1].trim_matches('"').starts_with(&bytes.cells[2]), "{bytes:?}");
    session.screenshot("inspector-4-bytes");

    // Back by a key and by the mouse, and forward again.
    session.back();
    session.expect("inspector: object of java.lang.String");
    session.tool("xdotool", &["click", "8"]);
    session.expect("inspector: object of register.model.Person");
    session.tool("xdotool", &["click", "9"]);
    session.expect("inspector: object of java.lang.String");
    session.back();
    session.expect("inspector: object of register.model.Person");
    assert!(!session.rest().iter().any(|line| line.contains("time: ")), "Alt+Left is no step in time");
    session.back();
    session.expect("inspector: Heap#");
    assert!(session.rest().iter().all(|line| !line.contains("selected: nothing")));
}
