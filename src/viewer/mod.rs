//! The 3D viewer: windows, input, drawing. The only part that knows Bevy.
