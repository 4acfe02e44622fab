//! The frames in which a document opens, one by one: no picture between before and after that is neither.

use super::*;

/// Opening shows the panels from the first frame on, where they stay: nothing flashes up and goes.
#[test]
fn panels_are_there_from_the_first_frame_of_a_document_on() {
    let settings = Settings::default();
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.app().world_mut().resource_mut::<PanelState>().still = false;
    for _ in 0..6 {
        studio.frame();
    }
    let empty = studio.frame_picture().expect("a picture");
    studio.show(open(&sample(), &settings));
    let mut frames = Vec::new();
    for _ in 0..12 {
        frames.push(studio.frame_picture().expect("a picture"));
    }
    let last = frames.last().expect("frames").clone();
    for (at, frame) in frames.iter().enumerate() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        capture::save(frame, &folder.join(format!("opening-{at:02}.png"))).expect("written");
        eprintln!(
            "{at}: {:.4} from the end, {:.4} from before",
            difference(frame, &last, 40),
            difference(frame, &empty, 40)
        );
    }
}
