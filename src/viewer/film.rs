//! The evolution of a city without a window or a display: every point in time and the way between, as one animated PNG or as
//! numbered pictures. What is drawn is what [`capture`](super::capture) draws.

use super::capture::{self, Picture, Shot, Studio};
use super::loading;
use super::views;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a film shows.
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

/// Where pictures go, one after the other.
trait Reel {
    /// The next picture and for how many seconds it is shown.
    fn add(&mut self, picture: &Picture, seconds: f32) -> Result<()>;
}

/// Opens `paths` and writes the film: an animated PNG if `output` ends in `.png` or `.apng`, else a folder `output` of pictures
/// with numbers, 0001.png and on. Returns how many pictures there are and the name of the GPU that drew them.
///
/// # Errors
/// Those of opening, of [`Studio::shoot`], and of writing. Of an animated PNG nothing is left then; of numbered pictures those
/// that were complete.
pub fn film(paths: &[PathBuf], film: &Film, output: &Path, progress: &Progress) -> Result<(u32, String)> {
    let settings = &film.shot.settings;
    let of_data = film.shot.with.of_data();
    let draft = loading::open_compared(paths, of_data, settings, &views::preparations(settings), progress)?;
    let times = draft.source.timeline().times();
    let (first, last) = (film.window.0, film.window.1.min(times.saturating_sub(1)));
    if first > last {
        return Err(Error::Unusable {
            what: format!("There is no point in time {}: the input has {times}", first + 1),
            remedy: format!("Give --from a number from 1 to {times}"),
        });
    }
    let pictures = u32::try_from(last - first).unwrap_or(u32::MAX).saturating_mul(film.between + 1).saturating_add(1);
    progress.begin("Starting the renderer", 0);
    let mut studio = Studio::new(film.shot.size, 4)?;
    studio.show(draft);
    progress.begin("Rendering", u64::from(pictures));
    let mut shoot = |reel: &mut dyn Reel| roll(&mut studio, film, (first, last), reel, progress);
    let animated = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("png") || e.eq_ignore_ascii_case("apng"));
    if animated {
        write_whole(output, |file| {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            let mut reel = AnimatedReel::new(&mut out, output, film.shot.size, pictures)?;
            shoot(&mut reel)?;
            reel.finish()?;
            out.flush().map_err(|e| Error::io(output, e))
        })?;
    } else {
        std::fs::create_dir_all(output).map_err(|e| Error::io(output, e))?;
        shoot(&mut NumberedReel { folder: output, next: 1 })?;
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
}

impl Reel for NumberedReel<'_> {
    fn add(&mut self, picture: &Picture, _seconds: f32) -> Result<()> {
        capture::save(picture, &self.folder.join(format!("{:04}.png", self.next)))?;
        self.next += 1;
        Ok(())
    }
}

/// One file that browsers play.
struct AnimatedReel<'a, W: Write> {
    writer: png::Writer<W>,
    output: &'a Path,
}

impl<'a, W: Write> AnimatedReel<'a, W> {
    fn new(out: W, output: &'a Path, size: (u32, u32), pictures: u32) -> Result<Self> {
        let mut encoder = png::Encoder::new(out, size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let writer = encoder.set_animated(pictures, 0).and_then(|()| encoder.write_header());
        Ok(AnimatedReel { writer: writer.map_err(|e| unwritten(output, e))?, output })
    }

    fn finish(self) -> Result<()> {
        self.writer.finish().map_err(|e| unwritten(self.output, e))
    }
}

impl<W: Write> Reel for AnimatedReel<'_, W> {
    fn add(&mut self, picture: &Picture, seconds: f32) -> Result<()> {
        let millis = (seconds * 1000.0).round().clamp(1.0, 65535.0) as u16;
        let writer = &mut self.writer;
        let written = writer.set_frame_delay(millis, 1000).and_then(|()| writer.write_image_data(picture.as_raw()));
        written.map_err(|e| unwritten(self.output, e))
    }
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
