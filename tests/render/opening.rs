//! The frames in which a document opens, one by one: no picture between before and after that is neither.

use super::*;

/// Share of the pixels that are as in neither of two pictures.
fn neither(picture: &RgbImage, a: &RgbImage, b: &RgbImage) -> f64 {
    let far = |p: &image::Rgb<u8>, q: &image::Rgb<u8>| (0..3).any(|c| p[c].abs_diff(q[c]) > 40);
    let all = picture.pixels().zip(a.pixels().zip(b.pixels()));
    all.filter(|(p, (a, b))| far(p, a) && far(p, b)).count() as f64 / picture.pixels().len() as f64
}

/// The bars at the top and at the bottom.
fn bars(picture: &RgbImage) -> RgbImage {
    let (width, height) = picture.dimensions();
    RgbImage::from_fn(width, 60, |x, y| *picture.get_pixel(x, if y < 30 { y } else { height - 90 + y }))
}

/// Panels are there, with all their words, from the first frame on, and the city is nowhere but where it stays.
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
    let frames: Vec<RgbImage> = (0..8).map(|_| studio.frame_picture().expect("a picture")).collect();
    let last = frames.last().expect("frames").clone();
    assert!(difference(&empty, &last, 40) > 0.5, "something has opened");
    for (at, frame) in frames.iter().enumerate() {
        let off = (difference(&bars(frame), &bars(&last), 40), neither(frame, &empty, &last));
        if off.0 > 0.02 || off.1 > 0.02 {
            let got = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("opening-{at}.png"));
            capture::save(frame, &got).expect("written");
            panic!(
                "frame {at}: {:.3} of the bars and {:.3} of the rest are elsewhere, see {}",
                off.0,
                off.1,
                got.display()
            );
        }
    }
}
