//! The records that the shaders read, byte for byte (see `shaders/`). Nothing here draws.

use bytemuck::{Pod, Zeroable};
use memory_city_views::city::Gradient;

/// Values for every shader: camera, animation, colours (`View` in `shaders/view.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct ViewRecord {
    /// World to clip space, reversed depth (1 near, 0 far).
    pub clip_from_world: [[f32; 4]; 4],
    /// Its inverse.
    pub world_from_clip: [[f32; 4]; 4],
    /// Eye position; w: world units of the full height of a state.
    pub eye: [f32; 4],
    /// Step progress, shadow strength, half side of the city, factor of heights.
    pub scene: [f32; 4],
    /// Instance that was selected last, and the hovered one, [`NO_INSTANCE`] for none.
    pub marks: [u32; 4],
    /// Gradient of the colour mode, at equal distances; linear RGB.
    pub gradient: [[f32; 4]; Gradient::STOPS],
    /// Colour of the selected building, linear RGB.
    pub selected: [f32; 4],
    /// Zenith, horizon, ground; linear RGB.
    pub backdrop: [[f32; 4]; 3],
    /// Colours of memory that would stay and of memory that would be freed, linear RGB.
    pub cut: [[f32; 4]; 2],
    /// Colour of outlines without walls, linear RGB.
    pub line: [f32; 4],
    /// Width and height of a pixel in clip space, whose range is 2 in both; set by the renderer.
    pub pixel: [f32; 4],
}

/// "No instance" in [`ViewRecord::marks`].
pub const NO_INSTANCE: u32 = u32::MAX;

/// The constant part of a box, the same as long as the layout stays: 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BoxRecord {
    /// Centre x, z and half sizes x, z of the reserved cell.
    pub cell: [f32; 4],
    /// Y of the foot; height of a slab, 0 for boxes whose height is in their state.
    pub lift: [f32; 2],
    /// sRGB colour of slabs and plots (little-endian RGBA); kind, [`SELECTED`], [`CUT`], [`LIT`], [`PAINTED`]
    /// and [`share`].
    pub paint: [u32; 2],
}

/// A box that has another paint than its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaintedBox {
    /// Which.
    pub at: u32,
    /// As [`BoxRecord::paint`].
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
    /// Many buildings, each smaller than a pixel. `lift` is the mean side of their cells in place of a height, `paint` the colour of the
    /// ground below them and their opacity. The state is that of `DetailTree::states`.
    pub const BLOCK: u32 = 3;
}

/// A flag beside the kind: one of several selected boxes. A single one is named by [`ViewRecord::marks`].
pub const SELECTED: u32 = 4;

/// Beside the kind: its share of freed memory is shown, given by [`share`].
pub const CUT: u32 = 8;

/// Beside [`CUT`]: for search results, which keep their colour, unlike freed memory.
pub const LIT: u32 = 16;

/// Beside the kind of a building: it has a colour of its own.
pub const PAINTED: u32 = 32;

/// A share of 1 as the upper bits of the kind take it.
pub fn share(of: f32) -> u32 {
    ((of.clamp(0.0, 1.0) * 255.0).round() as u32) << 8
}

/// A cone: 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ConeRecord {
    /// First end: xyz and radius.
    pub start: [f32; 4],
    /// The other end.
    pub end: [f32; 4],
    /// sRGB colour (little-endian RGBA); 1 when highlighted.
    pub paint: [u32; 2],
}
