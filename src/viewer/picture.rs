//! Pictures in memory, and as PNG files.

use crate::readers::FileReaders;
use image::codecs::png::PngEncoder;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::unfinished::write_whole_for;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// An RGB picture.
pub type Picture = image::RgbImage;
/// A picture one can see through.
pub type ClearPicture = image::RgbaImage;

/// Writes a PNG for some readers: complete, or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn save<P>(picture: &image::ImageBuffer<P, Vec<u8>>, output: &Path, readers: FileReaders) -> Result<()>
where
    P: image::Pixel<Subpixel = u8> + image::PixelWithColorType,
{
    write_whole_for(output, readers, |file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        picture.write_with_encoder(PngEncoder::new(&mut out)).map_err(|e| match e {
            image::ImageError::IoError(e) => Error::io(output, e),
            other => no_picture(&other.to_string()),
        })?;
        out.flush().map_err(|e| Error::io(output, e))
    })
}

/// The error of a picture that did not come.
pub(super) fn no_picture(why: &str) -> Error {
    Error::Unusable {
        what: format!("No picture could be read back: {why}"),
        remedy: "Try a smaller --size, or another GPU (WGPU_ADAPTER_NAME=llvmpipe draws in software)".into(),
    }
}
