//! The signs of a page, by plot and time ([`Appearance::overlay`](crate::city::Appearance::overlay)). Most plots have none, so signs are
//! not columns. A time has their number; each sign then has its distance in plots from the one before, and its bits
//! ([`sign`](crate::city::sign)).

use super::Page;
use super::data::put;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

/// Writes those of all times.
pub(super) fn put_signs(page: &Page<'_>, bytes: &mut Vec<u8>, progress: &Progress) -> Result<()> {
    for &t in page.times {
        progress.check()?;
        let over = page.appearance.overlay(page.plan, page.timeline, t);
        let signs = over.iter().enumerate().filter(|(_, over)| over.colour > 0);
        put(bytes, signs.clone().count() as i64);
        let mut before = 0;
        for (plot, over) in signs {
            put(bytes, (plot - before) as i64);
            put(bytes, i64::from(over.colour));
            before = plot;
        }
    }
    Ok(())
}
