//! The records the shaders read, byte for byte (see `shaders/`). Nothing here draws.

use bytemuck::{Pod, Zeroable};
use memory_city_views::city::Gradient;

/// What every shader knows: camera, animation, colours (`View` in `shaders/view.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct ViewRecord {
    /// World to clip space, reversed depth (1 near, 0 far).
    pub clip_from_world: [[f32; 4]; 4],
    /// Its inverse.
    pub world_from_clip: [[f32; 4]; 4],
    /// Eye position; w: world units of the full height of a state.
    pub eye: [f32; 4],
    /// Step progress, shadow strength, half side of the city, what heights are multiplied by.
    pub scene: [f32; 4],
    /// Instance that was selected last, and the hovered one, [`NO_INSTANCE`] for none.
    pub marks: [u32; 4],
    /// Gradient of the colour mode, at equal distances; linear RGB.
    pub gradient: [[f32; 4]; Gradient::STOPS],
    /// Colour of the selected building, linear RGB.
    pub selected: [f32; 4],
    /// Zenith, horizon, ground; linear RGB.
    pub backdrop: [[f32; 4]; 3],
    /// Colours of what would stay and of what would be freed, linear RGB.
    pub cut: [[f32; 4]; 2],
    /// Colour of outlines without walls, linear RGB.
    pub line: [f32; 4],
    /// Width and height of a pixel in clip space, of which the picture is 2 wide and high; the renderer knows them.
    pub pixel: [f32; 4],
}

/// "No instance" in [`ViewRecord::marks`].
pub const NO_INSTANCE: u32 = u32::MAX;

/// What never changes about a box while the layout stands: 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BoxRecord {
    /// Centre x, z and half sizes x, z of the reserved cell.
    pub cell: [f32; 4],
    /// Y of the foot; height of a slab, 0 for what has its height from its state.
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
    /// Many buildings that are each smaller than a pixel: `lift` has the mean side of their cells in place of a height, `paint`
    /// the colour of the ground below them and their opacity, and the state is what `DetailTree::states` says.
    pub const BLOCK: u32 = 3;
}

/// Beside the kind: one of several boxes that are selected. Where only one is, [`ViewRecord::marks`] names it.
pub const SELECTED: u32 = 4;

/// Beside the kind: it is shown what would be freed, and [`share`] says how much of this box.
pub const CUT: u32 = 8;

/// Beside [`CUT`]: what is found keeps its colour, where what would be freed has another one.
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
    /// One end: xyz and radius.
    pub start: [f32; 4],
    /// The other end.
    pub end: [f32; 4],
    /// sRGB colour (little-endian RGBA); 1 when highlighted.
    pub paint: [u32; 2],
}
