//! The shaders as modules for the GPU: WGSL files in `shaders/` that import from each other, joined by naga_oil.
//!
//! A file that others import is named in [`SHARED`], after those that it imports itself.

use naga_oil::compose::{ComposableModuleDescriptor, Composer, NagaModuleDescriptor, ShaderDefValue};

/// Files that shaders import.
const SHARED: [(&str, &str); 2] = [
    ("view.wgsl", include_str!("../../../shaders/view.wgsl")),
    ("standing.wgsl", include_str!("../../../shaders/standing.wgsl")),
];

/// The compiled modules of all pipelines.
pub(super) struct Shaders {
    pub boxes: wgpu::ShaderModule,
    /// The same for ordinary buildings, without marks: much less to compute for each vertex and pixel.
    pub plain_boxes: wgpu::ShaderModule,
    pub shadows: wgpu::ShaderModule,
    pub cones: wgpu::ShaderModule,
    pub signs: wgpu::ShaderModule,
    pub backdrop: wgpu::ShaderModule,
}

impl Shaders {
    /// Compiles all of them.
    pub fn new(device: &wgpu::Device) -> Shaders {
        let mut composer = composer();
        let mut variant = |path: &str, source: &str, defined: &[&str]| {
            let module = compose(&mut composer, path, source, defined);
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(path),
                source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module)),
            })
        };
        let boxes = include_str!("../../../shaders/boxes.wgsl");
        let plain_boxes = variant("boxes.wgsl", boxes, &["PLAIN"]);
        let mut module = |path: &str, source: &str| variant(path, source, &[]);
        Shaders {
            plain_boxes,
            boxes: module("boxes.wgsl", boxes),
            shadows: module("shadows.wgsl", include_str!("../../../shaders/shadows.wgsl")),
            cones: module("cones.wgsl", include_str!("../../../shaders/cones.wgsl")),
            signs: module("signs.wgsl", include_str!("../../../shaders/signs.wgsl")),
            backdrop: module("backdrop.wgsl", include_str!("../../../shaders/backdrop.wgsl")),
        }
    }
}

/// The shader that stretches a smaller picture.
pub(super) fn stretch(device: &wgpu::Device) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("stretch.wgsl"),
        source: wgpu::ShaderSource::Wgsl(include_str!("../../../shaders/stretch.wgsl").into()),
    })
}

/// The shader that writes a few states among many.
pub(super) fn patch(device: &wgpu::Device) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("patch.wgsl"),
        source: wgpu::ShaderSource::Wgsl(include_str!("../../../shaders/patch.wgsl").into()),
    })
}

fn composer() -> Composer {
    let mut composer = Composer::default();
    for (path, source) in SHARED {
        let descriptor = ComposableModuleDescriptor { source, file_path: path, ..Default::default() };
        if let Err(error) = composer.add_composable_module(descriptor) {
            panic!("{}", error.emit_to_string(&composer));
        }
    }
    composer
}

/// The files are part of the program: one that is wrong fails in every test that draws.
fn compose(composer: &mut Composer, path: &str, source: &str, defined: &[&str]) -> wgpu::naga::Module {
    let shader_defs = defined.iter().map(|&name| (name.to_owned(), ShaderDefValue::Bool(true))).collect();
    let descriptor = NagaModuleDescriptor { source, file_path: path, shader_defs, ..Default::default() };
    match composer.make_naga_module(descriptor) {
        Ok(module) => module,
        Err(error) => panic!("{}", error.emit_to_string(composer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga::{Binding, BuiltIn, TypeInner};

    /// Boxes drawn a second time at equal depths have the same positions both times, however a card compiles the shaders.
    #[test]
    fn positions_of_what_is_drawn_twice_are_invariant() {
        let mut composer = composer();
        let (boxes, backdrop) =
            (include_str!("../../../shaders/boxes.wgsl"), include_str!("../../../shaders/backdrop.wgsl"));
        for (path, source, defined) in
            [("boxes.wgsl", boxes, &["PLAIN"][..]), ("boxes.wgsl", boxes, &[]), ("backdrop.wgsl", backdrop, &[])]
        {
            let module = compose(&mut composer, path, source, defined);
            let mut positions = 0;
            for (_, of) in module.types.iter() {
                let TypeInner::Struct { members, .. } = &of.inner else { continue };
                for member in members {
                    if let Some(Binding::BuiltIn(BuiltIn::Position { invariant })) = member.binding {
                        assert!(invariant, "{path} {defined:?}: {:?} of {:?}", member.name, of.name);
                        positions += 1;
                    }
                }
            }
            assert!(positions > 0, "{path} {defined:?}");
        }
    }
}
