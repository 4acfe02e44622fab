//! The panels in the smallest window, on a small screen, a usual one and one of 2160 lines, where text is twice as large. On the small
//! screen they are compared with snapshots, with their words to the letter; on the others they are drawn, and have words. The city
//! itself is left out: it has pictures of its own, and drivers that differ.
//!
//! The panels are systems of the viewer, drawn by the renderer of the window. A harness for plain egui would need a
//! second renderer with other features, and another build of all of Bevy.

use super::*;
use memory_city::readers::FileReaders;
use memory_city::viewer::dock::Dock;
use memory_city::viewer::view::Views;

/// The screen whose pictures are kept: what is wrong on one is nearly always wrong there, and pictures of all would be ten megabytes.
const KEPT: &str = "720";

/// Of a thousand pixels less than one may differ: a word is more.
const MOST_OFF: f64 = 0.0006;

fn in_front(studio: &mut Studio, view: &str) {
    let world = studio.app().world_mut();
    let views = world.resource::<Views>().clone();
    let view = views.get(view).expect("a view");
    world.resource_mut::<Dock>().bring_to_front(view, &views);
}

#[test]
fn panels_look_as_they_should_on_four_screens() {
    let settings = Settings::default();
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.show(open(&sample(), &settings));
    studio.leave_out(true);
    let mut wrong = Vec::new();
    for (screen, size) in [("720", (1280, 720)), ("1080", (1920, 1080)), ("2160", (3840, 2160)), ("600", (900, 600))] {
        for state in ["start", "selected", "settings", "table", "help", "palette", "groupings"] {
            let select = if state == "selected" { vec!["Person".to_owned()] } else { Vec::new() };
            studio.app().world_mut().resource_mut::<PanelState>().help = state == "help";
            let wish = Shot { size, select, panels: true, ..shot(&settings) };
            let mut picture = studio.shoot(&wish).expect("a picture");
            if ["settings", "table"].contains(&state) {
                // A picture begins with the first layout.
                in_front(&mut studio, state);
                (0..4).for_each(|_| studio.app().update());
                let now = studio.app().world().resource::<Clock>().time;
                picture = studio.shoot_step(&wish, now, 1.0).expect("a picture");
            }
            // Cards that actions open, and put away again.
            let card = match state {
                "palette" => Some(Action::Palette),
                "groupings" => Some(Action::Groupings),
                _ => None,
            };
            if let Some(action) = card {
                studio.app().world_mut().write_message(action);
                (0..4).for_each(|_| studio.app().update());
                let now = studio.app().world().resource::<Clock>().time;
                picture = studio.shoot_step(&wish, now, 1.0).expect("a picture");
                studio.app().world_mut().write_message(action);
                studio.app().update();
            }
            assert_eq!(picture.dimensions(), size);
            let bright = share(&picture, |p| p.iter().any(|&c| c > 150));
            assert!(bright > 0.008, "{state} at {screen}: there are words ({bright})");
            if screen != KEPT {
                continue;
            }
            let name = format!("panels-{state}-{screen}");
            let Some(kept) = kept(&name, &picture) else { continue };
            let off = difference(&kept, &picture, 40);
            if off > MOST_OFF {
                let got = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
                picture::save(&picture, &got, FileReaders::AsUsual).expect("written");
                wrong.push(format!("{name}: {:.2} % differ, see {}", 100.0 * off, got.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\nUPDATE_GOLDEN=1 keeps the new ones: look at them first");
}
