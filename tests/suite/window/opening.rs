//! What a window shows while it opens something, picture by picture, as fast as the display gives them.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use x11rb::protocol::xproto::ImageFormat;

/// Every picture that differs from the one before, until told to end.
fn watch(display: &str, ends: Arc<AtomicBool>) -> std::thread::JoinHandle<Vec<image::RgbImage>> {
    let (display, number) = x11rb::connect(Some(display)).expect("the display");
    std::thread::spawn(move || {
        let root = display.setup().roots[number].root;
        let mut pictures: Vec<image::RgbImage> = Vec::new();
        let mut before = Vec::new();
        while !ends.load(Ordering::Relaxed) {
            let asked = display.get_image(ImageFormat::Z_PIXMAP, root, 0, 0, WIDTH as u16, HEIGHT as u16, u32::MAX);
            let shown = asked.expect("asked").reply().expect("an answer").data;
            if shown != before {
                let pixels = shown.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0]]).collect();
                pictures.push(image::RgbImage::from_raw(WIDTH, HEIGHT, pixels).expect("all pixels"));
                before = shown;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        pictures
    })
}

#[test]
fn a_window_opens_without_a_flash() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    moves(config.path());
    let mut session = Session::start(&["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    let ends = Arc::new(AtomicBool::new(false));
    let pictures = watch(&session.display, Arc::clone(&ends));
    session.expect("city: person-leak");
    session.expect("leak: ");
    session.rest();
    ends.store(true, Ordering::Relaxed);
    let pictures = pictures.join().expect("pictures");
    // From the first picture with the bar at the bottom on it stays; none before it shows anything of the city.
    let last = pictures.last().expect("pictures");
    let bar = |picture: &image::RgbImage| {
        let at = (0..WIDTH).step_by(3).map(|x| (*picture.get_pixel(x, HEIGHT - 4), *last.get_pixel(x, HEIGHT - 4)));
        let (mut same, mut all) = (0, 0);
        for (p, q) in at {
            all += 1;
            same += u32::from((0..3).all(|c| p[c].abs_diff(q[c]) < 12));
        }
        same * 10 > all * 9
    };
    let red = |picture: &image::RgbImage| share(picture, |[r, g, b]| r > 120 && r / 2 > g.max(b));
    assert!(red(last) > 0.01 && bar(last), "the city is there");
    let first = pictures.iter().position(bar).expect("one is the last");
    for (at, picture) in pictures.iter().enumerate() {
        let flashes = if at < first { red(picture) > 0.001 } else { !bar(picture) };
        if flashes {
            let path = session.folder.join(format!("opening-{at:03}.png"));
            picture.save(&path).expect("written");
            panic!("picture {at} of {} (panels from {first} on) flashes: {}", pictures.len(), path.display());
        }
    }
}
