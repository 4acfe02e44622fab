//! Axes: maps times and values to places, and picks round numbers for ticks.

use memory_city_analysis::tabular::{bytes_text, time_text, uptime_text};

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// A tick: its place on an axis, and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisTick {
    /// Where: x of times, y of values.
    pub at: f64,
    /// The text.
    pub text: String,
}

/// Times from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeAxis {
    /// The time at the left, nanoseconds.
    pub from: u64,
    /// The time at the right; later.
    pub to: u64,
    /// The left end.
    pub x: f64,
    /// The width.
    pub w: f64,
    /// Whether times are those of a clock; otherwise since the program started.
    pub is_epoch: bool,
}

/// Milliseconds.
const DAY: u64 = 86_400_000;
/// How far ticks are apart at least.
const TICK_GAP: f64 = 110.0;

impl TimeAxis {
    /// Nanoseconds from left to right; never 0.
    pub fn length(&self) -> u64 {
        self.to.saturating_sub(self.from).max(1)
    }

    /// Where a time is; outside of the axis where it is before or after.
    pub fn place(&self, time: u64) -> f64 {
        let since = time as f64 - self.from as f64;
        self.x + self.w * since / self.length() as f64
    }

    /// The time at a place, within the axis.
    pub fn time(&self, x: f64) -> u64 {
        let share = ((x - self.x) / self.w.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        self.from.saturating_add((share * self.length() as f64) as u64).min(self.to)
    }

    /// A time, for people.
    pub fn text(&self, time: u64) -> String {
        if self.is_epoch { time_text(time / NANOS) } else { uptime_text(time / NANOS) }
    }

    /// The part that is seen after zooming around a place: `factor` above 1 shows less. Within `whole`.
    pub fn zoomed(&self, factor: f64, x: f64, whole: (u64, u64)) -> (u64, u64) {
        let all = whole.1.saturating_sub(whole.0).max(1);
        let length = ((self.length() as f64 / factor.max(1e-6)) as u64).clamp(NANOS.min(all), all);
        let share = ((x - self.x) / self.w.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let fixed = self.time(x);
        let from = fixed.saturating_sub((share * length as f64) as u64);
        let from = from.clamp(whole.0, whole.1.saturating_sub(length).max(whole.0));
        (from, from + length)
    }

    /// The visible part after a move by so many units to the right. Within `whole`.
    pub fn moved(&self, by: f64, whole: (u64, u64)) -> (u64, u64) {
        let length = self.length();
        let step = by / self.w.max(f64::MIN_POSITIVE) * length as f64;
        let from = (self.from as f64 + step).max(0.0) as u64;
        let from = from.clamp(whole.0, whole.1.saturating_sub(length).max(whole.0));
        (from, from + length)
    }

    /// As [`TimeAxis::text`], without the day if the text before it on the axis has the same: whole texts are wider than the gaps between
    /// them. The time of day is left out for whole days.
    fn short_text(&self, time: u64, before: Option<&str>, step: u64) -> (String, Option<String>) {
        let whole = self.text(time);
        let parts: Vec<&str> = whole.split(' ').collect();
        let (true, [day, time, _]) = (self.is_epoch, &parts[..]) else { return (whole, None) };
        let text = match before == Some(*day) {
            true => (*time).to_owned(),
            false if step >= DAY => (*day).to_owned(),
            false => whole.clone(),
        };
        (text, Some((*day).to_owned()))
    }

    /// Round times: milliseconds, seconds, minutes, hours.
    pub fn ticks(&self) -> Vec<AxisTick> {
        const STEPS: [u64; 25] = [
            1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
            600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, DAY,
        ];
        let wanted = (self.length() as f64 * TICK_GAP / self.w.max(1.0) / NANOS as f64).ceil() as u64;
        let step = STEPS.into_iter().find(|&step| step >= wanted).unwrap_or(wanted.div_ceil(DAY).saturating_mul(DAY));
        let step = step.max(1).saturating_mul(NANOS);
        let mut ticks = Vec::new();
        let mut day_before: Option<String> = None;
        let mut time = self.from.div_ceil(step).saturating_mul(step);
        while time <= self.to {
            let (text, day) = self.short_text(time, day_before.as_deref(), step / NANOS);
            ticks.push(AxisTick { at: self.place(time), text });
            day_before = day;
            let Some(next) = time.checked_add(step) else { break };
            time = next;
        }
        ticks
    }
}

/// The unit of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueUnit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Shares, from 0 to 1, written in percent.
    Share,
    /// Milliseconds.
    Millis,
}

impl ValueUnit {
    /// A value, for people.
    pub fn text(self, value: f64) -> String {
        match self {
            ValueUnit::Bytes => bytes_text(value as u64),
            ValueUnit::BytesPerSecond => format!("{}/s", bytes_text(value as u64)),
            ValueUnit::Share => {
                let percent = 100.0 * value;
                if percent.fract().abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
            }
            ValueUnit::Millis if value >= 1000.0 => format!("{} s", short(value / 1000.0)),
            ValueUnit::Millis => format!("{} ms", short(value)),
        }
    }
}

/// The number with as few decimals as it needs.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Values from the bottom, 0, to the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueAxis {
    /// The value at the top: a round one that is no less than the largest.
    pub most: f64,
    /// The unit.
    pub unit: ValueUnit,
    /// The top.
    pub y: f64,
    /// The height.
    pub h: f64,
    /// Between ticks.
    step: f64,
}

impl ValueAxis {
    /// An axis that reaches from 0 to the largest value, or to the next tick.
    pub fn new(most: f64, unit: ValueUnit, y: f64, h: f64) -> ValueAxis {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let ticks = (h / 36.0).clamp(1.0, 6.0);
        let rough = most / ticks;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let most = (most / step * 0.9999).ceil().max(1.0) * step;
        ValueAxis { most: if unit == ValueUnit::Share { most.min(1.0) } else { most }, unit, y, h, step }
    }

    /// Where a value is.
    pub fn place(&self, value: f64) -> f64 {
        self.y + self.h * (1.0 - (value / self.most).clamp(0.0, 1.0))
    }

    /// Round values, from the bottom.
    pub fn ticks(&self) -> Vec<AxisTick> {
        let count = (self.most / self.step + 1e-9).floor() as usize;
        let tick = |i: usize| {
            let value = i as f64 * self.step;
            AxisTick { at: self.place(value), text: self.unit.text(value) }
        };
        (0..=count).map(tick).collect()
    }
}
