//! The settings kept for the next run: a person's changes to the look and the movement of cities. Settings of the trees (the grouping,
//! garbage) are asked anew for each input.
//!
//! The file is JSON, replaced in one step and checked when it is read: unknown values are passed over.

use super::panels::PanelState;
use super::settings::{MOST_NAMES, NAME_SIZES, Settings};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use memory_city_heap::error::Error;
use memory_city_heap::unfinished::write_whole;
use memory_city_views::city::height::HeightCurve;
use memory_city_views::city::{AreaMode, CityTheme, MOST_CONES, ReferenceShape, colour, height};
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const FILE: &str = "settings.json";
/// No file of ours is larger.
const MOST_BYTES: u64 = 1 << 16;
/// No id of a metric is longer.
const LONGEST_ID: usize = 200;

fn file() -> Option<PathBuf> {
    crate::config::folder().map(|folder| folder.join(FILE))
}

/// The kept part of settings.
pub(super) fn of(settings: &Settings) -> Map<String, Value> {
    let metric = settings.metric_id.as_deref().unwrap_or(match settings.metric {
        memory_city_analysis::timeline::Metric::Objects => "objects",
        _ => "bytes",
    });
    let all = json!({
        "area": settings.area_mode,
        "metric": metric,
        "colour": settings.colour,
        "colour-metric": settings.colour_metric.as_deref(),
        "height": settings.height,
        "height-metric": settings.height_metric.as_deref(),
        "height-scale": settings.curve.map(HeightCurve::id),
        "cap": settings.cap,
        "palette": settings.palette,
        "theme": settings.theme.id(),
        "child-count": settings.child_count,
        "prune": settings.prune,
        "solid": settings.solid_count,
        "opacity": settings.opacity,
        "shadows": settings.shadows,
        "names": settings.labels,
        "name-count": settings.name_count,
        "name-size": settings.name_size,
        "fold-libraries": settings.fold_libraries,
        "cones": settings.show_pointers,
        "incoming": settings.show_incoming,
        "outgoing": settings.show_outgoing,
        "references": settings.reference_shape,
        "reference-count": settings.reference_count,
        "step-seconds": settings.animation,
        "play-seconds": settings.interval,
        "navigation": settings.navigation,
        "reduced-motion": settings.reduced_motion,
        "ui-scale": settings.ui_scale,
        "minimap": settings.minimap,
        "hints": settings.hints,
        "repeat": settings.repeat,
    });
    let mut kept = match all {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    settings.trends.keep(&mut kept);
    kept
}

/// Settings for the next run: colours of a comparison end with it, and the comparison itself is not kept.
fn for_the_next_run(settings: &Settings) -> Map<String, Value> {
    let mut kept = of(settings);
    if settings.base.is_some() && settings.colour == "change" {
        kept.insert("colour".to_owned(), colour::modes()[0].id.into());
    }
    kept
}

/// Takes kept settings, as far as they are valid.
pub(super) fn take(kept: &Map<String, Value>, settings: &mut Settings) {
    let flag = |name: &str, to: &mut bool| *to = kept.get(name).and_then(Value::as_bool).unwrap_or(*to);
    flag("prune", &mut settings.prune);
    flag("cap", &mut settings.cap);
    flag("shadows", &mut settings.shadows);
    flag("names", &mut settings.labels);
    flag("fold-libraries", &mut settings.fold_libraries);
    flag("cones", &mut settings.show_pointers);
    flag("incoming", &mut settings.show_incoming);
    flag("outgoing", &mut settings.show_outgoing);
    flag("reduced-motion", &mut settings.reduced_motion);
    flag("minimap", &mut settings.minimap);
    flag("hints", &mut settings.hints);
    flag("repeat", &mut settings.repeat);
    if let Some(Ok(navigation)) = kept.get("navigation").map(|value| serde_json::from_value(value.clone())) {
        settings.navigation = navigation;
    }
    if kept.get("ui-scale").is_some_and(Value::is_null) {
        settings.ui_scale = None;
    }
    if let Some(scale) = kept.get("ui-scale").and_then(Value::as_f64).filter(|scale| scale.is_finite()) {
        settings.ui_scale = Some((scale as f32).clamp(0.5, 4.0));
    }
    let number = |name: &str, to: &mut f32, most: f64| {
        *to = kept.get(name).and_then(Value::as_f64).map_or(*to, |v| v.clamp(0.0, most) as f32);
    };
    number("opacity", &mut settings.opacity, 1.0);
    number("step-seconds", &mut settings.animation, 2.0);
    number("play-seconds", &mut settings.interval, 10.0);
    let count = |name: &str, to: &mut usize, least: u64, most: u64| {
        *to = kept.get(name).and_then(Value::as_u64).map_or(*to, |v| v.clamp(least, most) as usize);
    };
    count("child-count", &mut settings.child_count, 3, 500);
    count("solid", &mut settings.solid_count, 0, 200);
    count("reference-count", &mut settings.reference_count, 1, MOST_CONES as u64);
    match kept.get("name-count") {
        Some(Value::Null) => settings.name_count = None,
        Some(most) => {
            settings.name_count = most.as_u64().map(|n| n.min(MOST_NAMES as u64) as usize).or(settings.name_count);
        }
        None => {}
    }
    if let Some(size) = kept.get("name-size").and_then(Value::as_f64) {
        settings.name_size = (size as f32).clamp(*NAME_SIZES.start(), *NAME_SIZES.end());
    }
    let text = |name: &str| kept.get(name).and_then(Value::as_str).filter(|text| text.len() <= LONGEST_ID);
    if let Some(id) = text("colour").filter(|id| colour::modes().iter().any(|mode| mode.id == *id)) {
        settings.set_colour(id);
    }
    if let Some(palette) = text("palette").and_then(|id| colour::PALETTES.iter().find(|palette| palette.id == id)) {
        palette.id.clone_into(&mut settings.palette);
    }
    settings.theme = text("theme").and_then(CityTheme::of).unwrap_or(settings.theme);
    if kept.get("height-scale").is_some_and(Value::is_null) {
        settings.curve = None;
    }
    settings.curve = text("height-scale").and_then(HeightCurve::of).or(settings.curve);
    if let Some(id) = text("height").filter(|id| height::rules().iter().any(|rule| rule.id == *id)) {
        id.clone_into(&mut settings.height);
    }
    if let Some(shape) = text("references").and_then(ReferenceShape::of) {
        settings.reference_shape = shape;
    }
    if let Some(Ok(area)) = kept.get("area").map(|value| serde_json::from_value::<AreaMode>(value.clone())) {
        settings.area_mode = area;
    }
    if let Some(id) = text("metric") {
        settings.set_metric_by_name(id);
    }
    settings.set_colour_metric(text("colour-metric"));
    settings.set_height_metric(text("height-metric"));
    settings.trends.take(kept);
}

/// The value kept under a name beside the settings.
pub(super) fn kept(name: &str) -> Option<Value> {
    file().and_then(|path| read(&path).ok()).and_then(|mut kept| kept.remove(name))
}

/// Keeps values under names of their own.
pub(super) fn keep_values(values: impl IntoIterator<Item = (&'static str, Value)>) {
    let Some(path) = file() else { return };
    let mut all = read(&path).unwrap_or_default();
    all.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
    match write(&path, &all) {
        Ok(()) => tracing::debug!("settings kept: {}", path.display()),
        Err(error) => tracing::warn!("the settings are not kept: {error}"),
    }
}

fn read(path: &Path) -> Result<Map<String, Value>, String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(error.to_string()),
        Ok(metadata) if metadata.len() > MOST_BYTES => return Err("it is larger than settings are".to_owned()),
        Ok(_) => {}
    }
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    serde_json::from_slice(&bytes).map_err(|e| e.to_string())
}

fn write(path: &Path, kept: &Map<String, Value>) -> Result<(), Error> {
    let io = |error| Error::io(path, error);
    let text = serde_json::to_vec_pretty(kept).map_err(|e| io(e.into()))?;
    write_whole(path, |mut file| file.write_all(&text).map_err(io))
}

/// The settings of a first start, changed by those kept from earlier runs.
pub fn load() -> Settings {
    let mut settings = Settings::default();
    if let Some(path) = file() {
        match read(&path) {
            Ok(kept) => take(&kept, &mut settings),
            Err(why) => tracing::warn!("{}: the settings are ignored: {why}", path.display()),
        }
    }
    settings
}

/// Whether an earlier run has offered the choice of shadows.
pub fn knows_shadows() -> bool {
    file().and_then(|path| read(&path).ok()).is_some_and(|kept| kept.contains_key("shadows"))
}

/// Whether the settings have just come from a view file, not from a change by the person.
#[derive(Resource, Default)]
pub struct OthersSettings(pub bool);

const WINDOW: &str = "window";

/// The kept size of the window, physical pixels.
pub fn window_size() -> Option<(u32, u32)> {
    size_in(&file().and_then(|path| read(&path).ok())?)
}

fn size_in(kept: &Map<String, Value>) -> Option<(u32, u32)> {
    let side = |at: usize| {
        let side = kept.get(WINDOW)?.get(at)?.as_u64()?;
        u32::try_from(side).ok().filter(|side| (200..=16384).contains(side))
    };
    Some((side(0)?, side(1)?))
}

/// Keeps the size of the window when it has stayed the same for a while.
pub fn keep_window(
    windows: Query<&Window, With<PrimaryWindow>>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut kept: Local<Option<(u32, u32)>>,
) {
    let Ok(window) = windows.single() else { return };
    let size = (window.resolution.physical_width(), window.resolution.physical_height());
    if *kept == Some(size) || buttons.get_pressed().len() > 0 {
        return;
    }
    // The first size is the program's own, unless a person changes it.
    if kept.replace(size).is_none() {
        return;
    }
    let Some(path) = file() else { return };
    let mut all = read(&path).unwrap_or_default();
    all.insert(WINDOW.to_owned(), json!([size.0, size.1]));
    if let Err(error) = write(&path, &all) {
        tracing::warn!("the size of the window is not kept: {error}");
    }
}

const PANELS: &str = "panels";

/// Whether there were panels over the city when the window was left.
pub fn panels() -> bool {
    kept(PANELS).and_then(|shown| shown.as_bool()).unwrap_or(true)
}

/// Keeps the visibility of panels when a person changes it.
pub fn keep_panels(panels: Res<PanelState>, mut last: Local<Option<bool>>) {
    let before = last.replace(panels.visible);
    if before != Some(panels.visible) {
        tracing::debug!("panels: {}", if panels.visible { "shown" } else { "hidden" });
        // As they are at the start is as they were kept.
        before.inspect(|_| keep_values([(PANELS, panels.visible.into())]));
    }
}

/// Keeps a person's changes when the mouse is let go; settings of the command line, for one run, are not kept.
pub fn keep(
    settings: Res<Settings>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut others: ResMut<OthersSettings>,
    mut last: Local<Option<Map<String, Value>>>,
) {
    if last.is_some() && buttons.get_pressed().len() > 0 {
        return;
    }
    let now = for_the_next_run(&settings);
    let Some(before) = last.replace(now.clone()) else { return };
    if std::mem::take(&mut others.0) {
        return;
    }
    let changed: Vec<_> = now.into_iter().filter(|(name, value)| before.get(name) != Some(value)).collect();
    if changed.is_empty() {
        return;
    }
    let Some(path) = file() else { return };
    let mut kept = read(&path).unwrap_or_default();
    kept.extend(changed);
    match write(&path, &kept) {
        Ok(()) => tracing::debug!("settings kept: {}", path.display()),
        Err(error) => tracing::warn!("the settings are not kept: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let mut settings = Settings {
            area_mode: AreaMode::Linear,
            child_count: 77,
            prune: false,
            opacity: 0.25,
            colour: "share".into(),
            height: "amount".into(),
            labels: false,
            name_count: Some(12),
            reference_shape: ReferenceShape::Bundled,
            reference_count: 7,
            name_size: 1.5,
            fold_libraries: true,
            interval: 1.5,
            curve: Some(HeightCurve::Log),
            cap: false,
            palette: "cividis".into(),
            theme: CityTheme::Light,
            navigation: memory_city_views::city::camera::Navigation::Walk,
            reduced_motion: true,
            ui_scale: Some(1.25),
            minimap: false,
            hints: false,
            shadows: false,
            repeat: true,
            ..Settings::default()
        };
        settings.set_metric_by_name("objects");
        settings.set_height_metric(Some("retained"));
        let mut again = Settings::default();
        take(&of(&settings), &mut again);
        assert_eq!(again, settings);
        // By the size of the picture, after a number of names.
        settings.name_count = None;
        take(&of(&settings), &mut again);
        assert_eq!(again, settings);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a").join(FILE);
        write(&path, &of(&settings)).expect("written");
        assert_eq!(read(&path), Ok(of(&settings)));
    }

    /// A window closed during a comparison has the colours of growth in the next run, not those of the comparison.
    #[test]
    fn what_a_comparison_has_changed_ends_with_it() {
        let mut settings = Settings::default();
        settings.compare_with(Some(0));
        assert_eq!(settings.colour, "change");
        assert_eq!(for_the_next_run(&settings)["colour"], "growth");
        // A view file has the base too.
        assert_eq!(of(&settings)["colour"], "change");
        settings.compare_with(None);
        settings.set_colour("change");
        assert_eq!(for_the_next_run(&settings)["colour"], "change", "chosen by itself");
    }

    #[test]
    fn the_size_of_the_window_is_read_with_suspicion() {
        let size = |window: Value| size_in(json!({"window": window}).as_object().expect("an object"));
        assert_eq!(size(json!([900, 600])), Some((900, 600)));
        for wrong in [json!([0, 600]), json!([900]), json!("900x600"), json!([1e9, 5]), json!(null), json!([-5, 700])] {
            assert_eq!(size(wrong), None);
        }
    }

    #[test]
    fn whatever_is_in_the_file_there_are_settings() {
        let kept = json!({"area": 7, "colour": "no such", "height": [], "opacity": 1e99, "child-count": -1, "solid": 1e300,
            "metric": "x".repeat(1000), "step-seconds": "long", "names": 3, "name-count": "all", "navigation": "hop", "ui-scale": [2], "minimap": 1, "unknown": {}});
        let Value::Object(kept) = kept else { unreachable!() };
        let mut settings = Settings::default();
        take(&kept, &mut settings);
        assert_eq!(settings, Settings { opacity: 1.0, ..Settings::default() });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        std::fs::write(&path, "[1]").expect("written");
        assert!(read(&path).is_err());
        assert_eq!(read(&folder.path().join("none")), Ok(Map::new()));
    }
}
