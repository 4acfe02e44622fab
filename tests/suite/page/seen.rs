//! What can be read and reached: names, narrow windows, the two themes.

use super::{page, pixel, sample};
use memory_city_testing::browser::Browser;
use memory_city_testing::root;
use memory_city_views::city::CityTheme;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct PageName {
    key: String,
    text: String,
    #[serde(rename = "box")]
    place: [f64; 4],
    district: bool,
    rest: u64,
}

/// The names of a page that shows the whole city, after looking at what must hold of them.
fn names(browser: &mut Browser) -> Vec<PageName> {
    browser.until("the city at rest", "!memoryCity.state().moving");
    browser.ask("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
    let names: Vec<PageName> = serde_json::from_value(browser.ask("memoryCity.names()")).expect("names");
    let panels: Vec<[f64; 4]> = serde_json::from_value(browser.ask(
        "[...document.querySelectorAll('.panel')].map(p => p.getBoundingClientRect()).filter(r => r.width).map(r => [r.left, r.top, r.right, r.bottom])",
    ))
    .expect("panels");
    let places: Vec<[f64; 4]> = names.iter().map(|name| name.place).chain(panels).collect();
    for (i, a) in places.iter().enumerate().take(names.len()) {
        for b in &places[i + 1..] {
            assert!(a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1], "{:?} lies over {b:?}", names[i]);
        }
    }
    let mut keys: Vec<&str> = names.iter().map(|name| name.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), names.len());
    // Each building that stands is named or counted.
    let named = names.iter().filter(|name| !name.district && !name.key.ends_with("#…")).count() as u64;
    let counted: u64 = names.iter().map(|name| name.rest).sum();
    let all = browser.ask("memoryCity.buildings()");
    assert_eq!(named + counted + all["outside"].as_u64().expect("a number"), all["standing"], "{names:?}");
    names
}

#[test]
fn districts_have_names_and_count_what_has_none() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().to_string_lossy(), "--grouping", "package-type"], &file);
    browser.open(&file);
    let few = names(&mut browser);
    let district = few.iter().find(|name| name.district && name.rest > 0).expect("a district with a name");
    let drawn = browser.ask(&format!(
        "[...document.querySelectorAll('#labels button')].filter(b => !b.hidden && b.textContent === {}).length",
        json!(format!("{}+{}", district.text, district.rest))
    ));
    assert_eq!(drawn, json!(1), "{district:?}");
    // A click on it selects the district, as on those of buildings.
    let [x, y, to_x, to_y] = district.place;
    browser.click((x + to_x) / 2.0, (y + to_y) / 2.0);
    browser.until("the district", &format!("memoryCity.state().selected === {}", json!(district.key)));
    assert_eq!(browser.ask("document.getElementById('chosen').hidden"), json!(false));
    browser.press("Escape");

    browser.press("Home");
    browser.until("the first state", "memoryCity.state().time === 0");
    names(&mut browser);
    // More of them where there is more room.
    let Some(mut large) = Browser::start(2200, 1300) else { return };
    large.open(&file);
    let many = names(&mut large);
    assert!(few.len() > 12 && many.len() > few.len() + 8, "{} and {}", few.len(), many.len());
}

#[test]
fn groups_are_searched_in_narrow_windows() {
    let Some(mut browser) = Browser::start(800, 600) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().to_string_lossy(), "--grouping", "package-type"], &file);
    browser.open(&file);
    let shown = "document.getElementById('groups').offsetParent !== null || getComputedStyle(document.getElementById('groups')).display !== 'none'";
    assert_eq!(browser.ask(shown), json!(false), "the city is what is seen first");
    browser.press("/");
    browser.until("the list", shown);
    browser.write("model*pers");
    browser.until("one result", "document.querySelectorAll('#list button').length === 1");
    let wide = browser.ask("document.getElementById('list').getBoundingClientRect().width").as_f64();
    assert!(wide.is_some_and(|wide| wide > 500.0), "{wide:?}");
    browser.press("Enter");
    browser.until("the selection", "(memoryCity.state().selected || '').endsWith('#Person')");
    browser.until("the city again", &format!("!({shown})"));
    // Escape closes the list before it drops the selection.
    browser.press("/");
    browser.until("the list", shown);
    browser.press("Escape");
    browser.until("the city again", &format!("!({shown})"));
    assert!(browser.ask("memoryCity.state().selected").is_string());
    browser.press("Escape");
    browser.until("no selection", "memoryCity.state().selected === null");
    // The button does the same.
    let at = browser.ask("(() => { const r = document.getElementById('search-groups').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2] })()");
    browser.click(at[0].as_f64().expect("x"), at[1].as_f64().expect("y"));
    browser.until("the list", shown);
    assert_eq!(browser.ask("document.activeElement.id"), json!("search"));
    assert_eq!(browser.ask("document.getElementById('search-groups').getAttribute('aria-expanded')"), json!("true"));
    browser.press("Escape");
    browser.until("the city again", &format!("!({shown})"));
    // The bar of times stays within the window.
    let bar = browser.ask("(() => { const b = document.getElementById('time'); return [b.scrollWidth <= b.clientWidth, document.getElementById('help').getBoundingClientRect().right <= innerWidth] })()");
    assert_eq!(bar, json!([true, true]));
}

/// Contrasts of words on what is behind them, in a script: WCAG's ratio.
const CONTRASTS: &str = r"(() => {
  const numbers = (text) => text.match(/[\d.]+/g).map(Number);
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const page = numbers(getComputedStyle(document.body).backgroundColor);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
      if (a > 0) return [r, g, b].map((v, i) => v * a + page[i] * (1 - a));
    }
    return page;
  };
  const words = ['#about h1', '#grouping', '#says .verdict', '#says .name', '#says .growth', '#says .quiet', '#says summary', '#says .step', '#ranking', '#found', '#list button', '#legend h2', '#legend .marks span', '#legend .quiet', '#time button', '#number', '#when', '#heap-is', '#heap-now', '#search', '#order', '#labels button.grows', '#labels button.district', '#labels button.district i'];
  return Object.fromEntries(words.map((name) => {
    const element = document.querySelector(name), [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    return [name, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  }));
})()";

#[test]
fn both_themes_are_read_with_ease() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    for (theme, arguments) in [(CityTheme::Dark, &[][..]), (CityTheme::Light, &["--theme", "light"])] {
        let sample = sample().display().to_string();
        let all = [&[sample.as_str(), "--grouping", "package-type"], arguments].concat();
        page(&all, &file);
        browser.open(&file);
        names(&mut browser);
        assert_eq!(browser.ask("getComputedStyle(document.documentElement).colorScheme"), json!(theme.id()));
        for (what, contrast) in browser.ask(CONTRASTS).as_object().expect("contrasts") {
            assert!(contrast.as_f64().is_some_and(|ratio| ratio >= 4.5), "{what}: {contrast} : 1, {theme:?}");
        }
        // Districts are those of the theme; so is what is around the city.
        let colours: Vec<[f32; 3]> =
            serde_json::from_value(browser.ask("memoryCity.city.colours.districts")).expect("colours");
        let levels = colours.len() as u32;
        let expected: Vec<[f32; 3]> = (0..levels).map(|level| theme.district(level, levels)).collect();
        let apart = colours.as_flattened().iter().zip(expected.as_flattened()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-5, "{colours:?}");
        let sky = pixel(&mut browser, 640.0, 6.0);
        assert_eq!(sky.iter().all(|channel| *channel > 150), theme == CityTheme::Light, "{sky:?}");
    }
}

/// An index of bytecode does not look like a line, and groups are still found by their keys.
#[test]
fn indices_of_bytecode_are_said_to_be_such() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    let trace = root().join("tests/data/anttracks/person-leak-g1");
    page(&[&trace.to_string_lossy(), "--grouping", "type>site"], &file);
    browser.open(&file);
    names(&mut browser);
    browser.press("/");
    browser.write("linkLast");
    browser.until("results", "document.querySelectorAll('#list button').length > 0");
    let said = browser
        .ask("[document.body.innerText, ...[...document.querySelectorAll('[title]')].map(e => e.title)].join('\\n')");
    let said = said.as_str().expect("a text");
    assert!(said.contains(") at bytecode "), "{said}");
    let like_lines = said.split("):").skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count();
    assert_eq!(like_lines, 0, "{said}");
    let key = browser.ask("[...memoryCity.keys()].find(key => /linkLast.*\\):\\d/.test(key))");
    browser.ask(&format!("memoryCity.select({key})"));
    assert_eq!(browser.ask("memoryCity.state().selected"), key);
}
