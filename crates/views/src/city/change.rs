//! The change of each group between two points in time (grown, shrunk, appeared, vanished), and the sign for it on a plot. Any time may be
//! the base. A base later than the time shown gives the exact negation.
//!
//! May not: draw, or know plots.

/// How a group changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Change {
    /// The value is the same.
    #[default]
    Same,
    /// It was there and is more now.
    Grown,
    /// It is less, and still there.
    Shrunk,
    /// It was not there.
    Appeared,
    /// It is not there any more.
    Vanished,
}

impl Change {
    /// The change from one value to another.
    #[inline]
    pub fn of(before: u64, after: u64) -> Change {
        match (before, after) {
            (0, 0) => Change::Same,
            (0, _) => Change::Appeared,
            (_, 0) => Change::Vanished,
            _ if after > before => Change::Grown,
            _ if after < before => Change::Shrunk,
            _ => Change::Same,
        }
    }

    /// The same change with time running the other way.
    #[must_use]
    pub fn reversed(self) -> Change {
        match self {
            Change::Same => Change::Same,
            Change::Grown => Change::Shrunk,
            Change::Shrunk => Change::Grown,
            Change::Appeared => Change::Vanished,
            Change::Vanished => Change::Appeared,
        }
    }
}

/// Share of the larger value below which a change is not drawn on the plot, but counted ([`Comparison::slight`]).
pub const SLIGHT_CHANGE: f64 = 0.01;

/// Whether so little has changed that it is not drawn.
pub(super) fn is_slight(before: u64, after: u64) -> bool {
    (before.abs_diff(after) as f64) < SLIGHT_CHANGE * before.max(after) as f64
}

/// The signs on plots, as bits of [`PlotState::colour`] in the states that [`Appearance::overlay`] returns (`shaders/signs.wgsl`).
pub mod sign {
    /// The bits of the direction.
    pub const DIRECTION: u16 = 7;
    /// More than before: a chevron upwards.
    pub const GROWN: u16 = 1;
    /// At least twice as much: two of them.
    pub const DOUBLED: u16 = 2;
    /// Less than before: a chevron downwards.
    pub const SHRUNK: u16 = 3;
    /// At most half as much: two of them.
    pub const HALVED: u16 = 4;
    /// It was not there: a plus.
    pub const APPEARED: u16 = 5;
    /// It is gone: a cross on the place of the older state.
    pub const VANISHED: u16 = 6;
    /// It is higher than heights are drawn: a break in the walls.
    pub const CAPPED: u16 = 8;
}

/// The direction of a change as a sign; 0 where nothing is drawn.
pub(super) fn direction(before: u64, after: u64) -> u16 {
    let doubled = |small: u64, large: u64| large / 2 >= small;
    match Change::of(before, after) {
        Change::Same => 0,
        Change::Appeared => sign::APPEARED,
        Change::Vanished => sign::VANISHED,
        _ if is_slight(before, after) => 0,
        Change::Grown if doubled(before, after) => sign::DOUBLED,
        Change::Grown => sign::GROWN,
        Change::Shrunk if doubled(after, before) => sign::HALVED,
        Change::Shrunk => sign::SHRUNK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_say_how_much() {
        for (before, after, expected) in [
            (0, 0, 0),
            (0, 1, sign::APPEARED),
            (7, 0, sign::VANISHED),
            (1000, 1009, 0),
            (1000, 1011, sign::GROWN),
            (1000, 1999, sign::GROWN),
            (1000, 2000, sign::DOUBLED),
            (2000, 1000, sign::HALVED),
            (1999, 1000, sign::SHRUNK),
            (u64::MAX, 1, sign::HALVED),
            (1, u64::MAX, sign::DOUBLED),
        ] {
            assert_eq!(direction(before, after), expected, "{before} {after}");
        }
    }
}
