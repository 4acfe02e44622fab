//! Films of a city, without a window or a display: every point in time and the way between, as one animated PNG or as numbered pictures.
//! [`capture`](super::capture) draws the pictures.

use super::capture::{Shot, Studio};
use super::loading;
use super::picture::{self, Picture};
use super::views;
use crate::readers::{FileReaders, readers_compared};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole_for;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Description of a film.
#[derive(Clone, Debug)]
pub struct Film {
    /// The pictures: from where, how they look. Its time is not looked at.
    pub shot: Shot,
    /// The first and the last point in time.
    pub window: (usize, usize),
    /// How many pictures there are between two points in time.
    pub between: u32,
}

/// Seconds for which pictures between two points in time are shown.
const STEP_PICTURE: f32 = 0.04;

/// Target of the pictures, one after the other.
trait Reel {
    /// The next picture and for how many seconds it is shown.
    fn add(&mut self, picture: &Picture, seconds: f32) -> Result<()>;
}

/// Opens `paths` and writes the film: an animated PNG if `output` ends in `.png` or `.apng`, else a folder `output` of pictures
/// with numbers, 0001.png and on. Returns how many pictures there are and the name of the GPU that drew them.
///
/// # Errors
/// Errors of opening, of [`Studio::shoot`], and of writing. An animated PNG is removed then; of numbered pictures the complete ones stay.
pub fn film(paths: &[PathBuf], film: &Film, output: &Path, progress: &Progress) -> Result<(u32, String)> {
    let settings = &film.shot.settings;
    let of_data = film.shot.with.of_data();
    let draft = loading::open_compared(paths, of_data, settings, &views::all().preparations(settings), progress)?;
    let times = draft.source.timeline().times();
    let (first, last) = (film.window.0, film.window.1.min(times.saturating_sub(1)));
    if first > last {
        return Err(Error::Unusable {
            what: format!("There is no point in time {}: the input has {times}", first + 1),
            remedy: format!("Give --from a number from 1 to {times}"),
        });
    }
    let pictures = u32::try_from(last - first).unwrap_or(u32::MAX).saturating_mul(film.between + 1).saturating_add(1);
    let readers = readers_compared(paths, film.shot.with.compare.as_ref())?;
    progress.begin("Starting the renderer", 0);
    let mut studio = Studio::new(film.shot.size, 4)?;
    studio.show(draft);
    progress.begin("Rendering", u64::from(pictures));
    let mut shoot = |reel: &mut dyn Reel| roll(&mut studio, film, (first, last), reel, progress);
    let animated = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("png") || e.eq_ignore_ascii_case("apng"));
    if animated {
        write_whole_for(output, readers, |file| {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            let mut reel = AnimatedReel::new(&mut out, output, film.shot.size, pictures)?;
            shoot(&mut reel)?;
            reel.finish()?;
            out.flush().map_err(|e| Error::io(output, e))
        })?;
    } else {
        std::fs::create_dir_all(output).map_err(|e| Error::io(output, e))?;
        shoot(&mut NumberedReel { folder: output, next: 1, readers })?;
    }
    Ok((pictures, studio.adapter.clone()))
}

fn roll(
    studio: &mut Studio,
    film: &Film,
    (first, last): (usize, usize),
    reel: &mut dyn Reel,
    progress: &Progress,
) -> Result<()> {
    let rest = film.shot.settings.interval.max(STEP_PICTURE);
    let start = studio.shoot(&Shot { time: Some(first), ..film.shot.clone() })?;
    reel.add(&start, rest)?;
    progress.advance(1);
    for time in first + 1..=last {
        for step in 1..=film.between + 1 {
            progress.check()?;
            let share = step as f32 / (film.between + 1) as f32;
            let picture = studio.shoot_step(&film.shot, time, share)?;
            let seconds = match share {
                _ if time == last && share >= 1.0 => 3.0 * rest,
                _ if share >= 1.0 => rest,
                _ => STEP_PICTURE,
            };
            reel.add(&picture, seconds)?;
            progress.advance(1);
        }
    }
    Ok(())
}

/// Pictures as files with numbers.
struct NumberedReel<'a> {
    folder: &'a Path,
    next: u32,
    readers: FileReaders,
}

impl Reel for NumberedReel<'_> {
    fn add(&mut self, picture: &Picture, _seconds: f32) -> Result<()> {
        picture::save(picture, &self.folder.join(format!("{:04}.png", self.next)), self.readers)?;
        self.next += 1;
        Ok(())
    }
}

/// One file that browsers play. Each frame after the first holds the differences from the one before, and is transparent elsewhere.
struct AnimatedReel<'a, W: Write> {
    writer: png::Writer<W>,
    output: &'a Path,
    /// The picture on screen, once there is one.
    shown: Option<Picture>,
}

impl<'a, W: Write> AnimatedReel<'a, W> {
    fn new(out: W, output: &'a Path, size: (u32, u32), pictures: u32) -> Result<Self> {
        let mut encoder = png::Encoder::new(out, size.0, size.1);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let writer = encoder.set_animated(pictures, 0).and_then(|()| encoder.write_header());
        Ok(AnimatedReel { writer: writer.map_err(|e| unwritten(output, e))?, output, shown: None })
    }

    fn finish(self) -> Result<()> {
        self.writer.finish().map_err(|e| unwritten(self.output, e))
    }

    fn write(&mut self, picture: &Picture, millis: u16) -> std::result::Result<(), png::EncodingError> {
        let (changed, pixels) = difference(self.shown.as_ref(), picture);
        let writer = &mut self.writer;
        writer.set_frame_delay(millis, 1000)?;
        // The first frame is the whole picture: the header says so already.
        if self.shown.is_some() {
            writer.set_blend_op(png::BlendOp::Over)?;
            // A frame lies within the picture at every moment: it moves to the corner before it grows.
            writer.set_frame_position(0, 0)?;
            writer.set_frame_dimension(changed.width, changed.height)?;
            writer.set_frame_position(changed.x, changed.y)?;
        }
        writer.write_image_data(&pixels)
    }
}

impl<W: Write> Reel for AnimatedReel<'_, W> {
    fn add(&mut self, picture: &Picture, seconds: f32) -> Result<()> {
        let millis = (seconds * 1000.0).round().clamp(1.0, 65535.0) as u16;
        self.write(picture, millis).map_err(|e| unwritten(self.output, e))?;
        self.shown = Some(picture.clone());
        Ok(())
    }
}

/// The smallest rectangle that holds all pixels of `picture` that differ from those `shown`, and its pixels in RGBA: those that do not differ
/// are transparent. Without differences it is the first pixel; with nothing shown it is the whole picture.
fn difference(shown: Option<&Picture>, picture: &Picture) -> (image::math::Rect, Vec<u8>) {
    let (width, height) = picture.dimensions();
    let differs = |x: u32, y: u32| shown.is_none_or(|shown| shown.get_pixel(x, y) != picture.get_pixel(x, y));
    let (mut left, mut top, mut right, mut bottom) = (width, height, 0, 0);
    for (x, y, _) in picture.enumerate_pixels().filter(|&(x, y, _)| differs(x, y)) {
        (left, top, right, bottom) = (left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1));
    }
    if left >= right {
        (left, top, right, bottom) = (0, 0, 1, 1);
    }
    let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))).flat_map(|(x, y)| {
        let [r, g, b] = picture.get_pixel(x, y).0;
        if differs(x, y) { [r, g, b, u8::MAX] } else { [0; 4] }
    });
    let pixels = pixels.collect();
    (image::math::Rect { x: left, y: top, width: right - left, height: bottom - top }, pixels)
}

fn unwritten(output: &Path, error: png::EncodingError) -> Error {
    match error {
        png::EncodingError::IoError(e) => Error::io(output, e),
        other => Error::Unusable {
            what: format!("The film could not be written as {}: {other}", output.display()),
            remedy: "Write numbered pictures: give --output a folder".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn frames_hold_only_what_differs() {
        let first = Picture::from_fn(5, 4, |x, y| Rgb([x as u8, y as u8, 7]));
        let mut second = first.clone();
        second.put_pixel(1, 1, Rgb([90, 0, 0]));
        second.put_pixel(3, 2, Rgb([0, 90, 0]));
        let rect = |of: image::math::Rect| (of.x, of.y, of.width, of.height);
        let (whole, pixels) = difference(None, &first);
        assert_eq!((rect(whole), pixels.len()), ((0, 0, 5, 4), 5 * 4 * 4));
        assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255));
        let (changed, pixels) = difference(Some(&first), &second);
        assert_eq!(rect(changed), (1, 1, 3, 2));
        let opaque: Vec<&[u8]> = pixels.chunks(4).filter(|pixel| pixel[3] != 0).collect();
        assert_eq!(opaque, [[90, 0, 0, 255], [0, 90, 0, 255]]);
        let (none, pixels) = difference(Some(&second), &second);
        assert_eq!((rect(none), pixels), ((0, 0, 1, 1), vec![0; 4]));
    }
}
