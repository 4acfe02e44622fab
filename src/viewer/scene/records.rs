//! The records the shaders read, byte for byte (see `shaders/`). Nothing here draws.

use bytemuck::{Pod, Zeroable};

/// What every shader knows: camera, animation, colours (`View` in `shaders/view.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct ViewRecord {
    /// World to clip space, reversed depth (1 near, 0 far).
    pub clip_from_world: [[f32; 4]; 4],
    /// Its inverse.
    pub world_from_clip: [[f32; 4]; 4],
    /// Eye position; w: 1 when colours show growth.
    pub eye: [f32; 4],
    /// Step progress, opacity of non-solid buildings, shadow strength, half side of the city.
    pub scene: [f32; 4],
    /// Selected and hovered instance, [`NO_INSTANCE`] for none.
    pub marks: [u32; 4],
    /// Growth gradient: none, half, most; linear RGB.
    pub growth: [[f32; 4]; 3],
    /// Colour of the selected building, linear RGB.
    pub selected: [f32; 4],
    /// Zenith, horizon, ground; linear RGB.
    pub backdrop: [[f32; 4]; 3],
}

/// "No instance" in [`ViewRecord::marks`].
pub const NO_INSTANCE: u32 = u32::MAX;

/// What never changes about a box while the layout stands: 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BoxRecord {
    /// Centre x, z and half sizes x, z of the reserved cell.
    pub cell: [f32; 4],
    /// Y of the foot; fixed height, or 0 for the height that follows from the base area.
    pub lift: [f32; 2],
    /// sRGB colour of slabs and plots (little-endian RGBA); kind.
    pub paint: [u32; 2],
}

/// Kinds of boxes ([`BoxRecord::paint`]).
pub mod kind {
    /// A building.
    pub const BUILDING: u32 = 0;
    /// A district slab.
    pub const SLAB: u32 = 1;
    /// A plot that stands for several pruned groups.
    pub const MORE: u32 = 2;
}

/// What a box is at one point in time: 4 bytes, all a time step uploads.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable, Default)]
pub struct StateRecord {
    /// Linear share of the cell that is built on, 0..=65535.
    pub scale: u16,
    /// Position on the growth gradient, 0..=65535.
    pub growth: u16,
}

impl StateRecord {
    /// A box that fills its cell and shows no growth: districts.
    pub const FULL: StateRecord = StateRecord { scale: u16::MAX, growth: 0 };

    /// From shares of 1. Anything present stays visible: a positive scale never rounds to nothing.
    pub fn new(scale: f32, growth: f32) -> Self {
        let unit = |v: f32| (v.clamp(0.0, 1.0) * 65535.0).round() as u16;
        let scale16 = if scale > 0.0 { unit(scale).max(1) } else { 0 };
        StateRecord { scale: scale16, growth: unit(growth) }
    }

    /// The state `mix` of the way from `self` to `other`.
    pub fn lerp(self, other: StateRecord, mix: f32) -> StateRecord {
        let one = |a: u16, b: u16| (f32::from(a) + (f32::from(b) - f32::from(a)) * mix).round() as u16;
        StateRecord { scale: one(self.scale, other.scale), growth: one(self.growth, other.growth) }
    }

    /// Linear share of the cell, 0..=1.
    pub fn share(self) -> f32 {
        f32::from(self.scale) / 65535.0
    }
}

/// A cone: 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ConeRecord {
    /// One end: xyz and radius.
    pub start: [f32; 4],
    /// The other end.
    pub end: [f32; 4],
    /// sRGB colour (little-endian RGBA); 1 when highlighted.
    pub paint: [u32; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_uploads_four_bytes_a_building() {
        assert_eq!(std::mem::size_of::<StateRecord>(), 4);
    }

    #[test]
    fn states_round_trip_and_never_lose_a_building() {
        for (scale, growth) in [(0.0, 0.0), (1.0, 1.0), (1e-9, 0.5), (0.25, 0.75)] {
            let state = StateRecord::new(scale, growth);
            assert_eq!(state.scale == 0, scale == 0.0, "{scale}");
            assert!((state.share() - scale).abs() < 2e-5);
        }
        let a = StateRecord::new(0.0, 0.0);
        let b = StateRecord::new(1.0, 1.0);
        assert_eq!(a.lerp(b, 0.0), a);
        assert_eq!(a.lerp(b, 1.0), b);
    }
}
