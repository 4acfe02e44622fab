//! The frames in which a document opens, one by one: no picture between before and after that is neither.

use super::*;

/// Share of the pixels where buildings stand in one picture and not in the other.
fn astray(picture: &RgbImage, last: &RgbImage) -> f64 {
    let is_building = |p: &image::Rgb<u8>| p[0] > 110 && u32::from(p[0]) > 2 * u32::from(p[1].max(p[2]));
    let all = picture.pixels().zip(last.pixels());
    all.filter(|(p, q)| is_building(p) && !is_building(q)).count() as f64 / picture.pixels().len() as f64
}

/// The bar at the top, and of the one at the bottom what nothing is marked in later.
fn bars(picture: &RgbImage) -> RgbImage {
    let (width, height) = picture.dimensions();
    RgbImage::from_fn(width, 60, |x, y| *picture.get_pixel(x, if y < 30 { y } else { height - 115 + y }))
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
    assert!(astray(&last, &empty) > 0.02, "a city has opened");
    for (at, frame) in frames.iter().enumerate() {
        let off = (difference(&bars(frame), &bars(&last), 40), astray(frame, &last));
        if off.0 > 0.02 || off.1 > 0.002 {
            let got = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("opening-{at}.png"));
            picture::save(frame, &got, FileReaders::AsUsual).expect("written");
            panic!(
                "frame {at}: {:.3} of the bars and {:.3} of the city are astray, see {}",
                off.0,
                off.1,
                got.display()
            );
        }
    }
}
