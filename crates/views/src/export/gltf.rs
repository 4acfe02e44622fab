//! A city as binary glTF 2.0 (.glb), for 3D programs. Each box is a node, named as its group, with key, objects and bytes as extras. All
//! share one box of geometry, and each colour is a material.

use super::{BoxKind, ShownBox, ShownCity};
use gltf_json::material::{AlphaMode, PbrBaseColorFactor, PbrMetallicRoughness, StrengthFactor};
use gltf_json::validation::{Checked, USize64};
use gltf_json::{Accessor, Buffer, Index, Material, Mesh, Node, Root, Scene, accessor, buffer, mesh, scene};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

/// Steps of colours and opacities: boxes that look the same share a material.
const STEPS: f32 = 63.0;

/// The city as one file. Metres are the city's units: it is 100 wide. Names come from the input; nothing else of it is in the file.
///
/// # Errors
/// When the work was cancelled, or the city is too large for the format (4 GB).
pub fn glb(city: &ShownCity<'_>, progress: &Progress) -> Result<Vec<u8>> {
    let boxes = city.boxes();
    progress.begin("Writing the scene", boxes.len() as u64);
    let (positions, normals, indices) = unit_box();
    let mut bin: Vec<u8> = Vec::new();
    positions.iter().chain(&normals).flatten().for_each(|v: &f32| bin.extend(v.to_le_bytes()));
    indices.iter().for_each(|i| bin.extend(i.to_le_bytes()));
    let mut root = Root::default();
    root.asset.generator = Some(concat!("Memory City ", env!("CARGO_PKG_VERSION")).to_owned());
    let buffer = root.push(Buffer {
        byte_length: USize64::from(bin.len()),
        uri: None,
        name: None,
        extensions: None,
        extras: None,
    });
    let vectors = positions.len() * 12;
    let mut view = |offset: usize, length: usize, target: buffer::Target| {
        root.push(buffer::View {
            buffer,
            byte_length: USize64::from(length),
            byte_offset: Some(USize64::from(offset)),
            byte_stride: None,
            target: Some(Checked::Valid(target)),
            name: None,
            extensions: None,
            extras: None,
        })
    };
    let views = [
        view(0, vectors, buffer::Target::ArrayBuffer),
        view(vectors, vectors, buffer::Target::ArrayBuffer),
        view(2 * vectors, indices.len() * 2, buffer::Target::ElementArrayBuffer),
    ];
    let mut accessor = |view: usize, count: usize, of: accessor::Type, kind: accessor::ComponentType, bounds: bool| {
        let corner = |v: [f32; 3]| Some(gltf_json::Value::from(v.to_vec()));
        root.push(Accessor {
            buffer_view: Some(views[view]),
            byte_offset: Some(USize64(0)),
            count: USize64::from(count),
            component_type: Checked::Valid(accessor::GenericComponentType(kind)),
            type_: Checked::Valid(of),
            min: if bounds { corner([-0.5, 0.0, -0.5]) } else { None },
            max: if bounds { corner([0.5, 1.0, 0.5]) } else { None },
            name: None,
            normalized: false,
            sparse: None,
            extensions: None,
            extras: None,
        })
    };
    let position = accessor(0, positions.len(), accessor::Type::Vec3, accessor::ComponentType::F32, true);
    let normal = accessor(1, normals.len(), accessor::Type::Vec3, accessor::ComponentType::F32, false);
    let index = accessor(2, indices.len(), accessor::Type::Scalar, accessor::ComponentType::U16, false);
    let mut meshes: BTreeMap<[u8; 4], Index<Mesh>> = BTreeMap::new();
    let mut nodes = Vec::with_capacity(boxes.len());
    for (at, b) in boxes.iter().enumerate() {
        if at % 4096 == 0 {
            progress.check()?;
        }
        let step = |v: f32| (v.clamp(0.0, 1.0) * STEPS).round() as u8;
        let [red, green, blue] = b.colour.map(step);
        let paint = [red, green, blue, step(b.opacity)];
        let mesh = match meshes.get(&paint) {
            Some(mesh) => *mesh,
            None => {
                let mesh = painted(&mut root, paint, (position, normal, index));
                meshes.insert(paint, mesh);
                mesh
            }
        };
        nodes.push(root.push(node(city, b, mesh)));
    }
    let scene = root.push(Scene { nodes, name: Some("City".to_owned()), extensions: None, extras: None });
    root.scene = Some(scene);
    let json = root.to_vec().map_err(|error| unusable(&error.to_string()))?;
    file(json, bin)
}

fn painted(
    root: &mut Root,
    paint: [u8; 4],
    (position, normal, index): (Index<Accessor>, Index<Accessor>, Index<Accessor>),
) -> Index<Mesh> {
    let [red, green, blue, opacity] = paint.map(|v| f32::from(v) / STEPS);
    let see_through = paint[3] < STEPS as u8;
    let material = root.push(Material {
        alpha_mode: Checked::Valid(if see_through { AlphaMode::Blend } else { AlphaMode::Opaque }),
        pbr_metallic_roughness: PbrMetallicRoughness {
            base_color_factor: PbrBaseColorFactor([red, green, blue, opacity]),
            metallic_factor: StrengthFactor(0.0),
            roughness_factor: StrengthFactor(0.9),
            ..PbrMetallicRoughness::default()
        },
        ..Material::default()
    });
    let attributes = [(mesh::Semantic::Positions, position), (mesh::Semantic::Normals, normal)];
    let attributes = attributes.into_iter().map(|(semantic, accessor)| (Checked::Valid(semantic), accessor)).collect();
    root.push(Mesh {
        primitives: vec![mesh::Primitive {
            attributes,
            indices: Some(index),
            material: Some(material),
            mode: Checked::Valid(mesh::Mode::Triangles),
            targets: None,
            extensions: None,
            extras: None,
        }],
        weights: None,
        name: None,
        extensions: None,
        extras: None,
    })
}

fn node(city: &ShownCity<'_>, b: &ShownBox, mesh: Index<Mesh>) -> Node {
    let name = city.timeline.name(b.node);
    let name = match b.kind {
        BoxKind::More(count) => format!("{count} more in {name}"),
        BoxKind::District | BoxKind::Building => name.to_owned(),
    };
    let extras = serde_json::json!({
        "key": city.timeline.key(b.node),
        "kind": match b.kind { BoxKind::District => "district", BoxKind::Building => "building", BoxKind::More(_) => "more" },
        "objects": b.amount.objects,
        "bytes": b.amount.bytes,
    });
    Node {
        mesh: Some(mesh),
        name: Some(name),
        translation: Some(b.foot.to_array()),
        scale: Some(b.size.max(glam::Vec3::splat(1e-4)).to_array()),
        rotation: Some(scene::UnitQuaternion::default()),
        extras: serde_json::value::to_raw_value(&extras).ok(),
        ..Node::default()
    }
}

/// Corners, normals and triangles of a box from -1/2 to 1/2 in x and z and from 0 to 1 in y, each face on its own, seen from outside
/// counter-clockwise.
fn unit_box() -> (Vec<[f32; 3]>, Vec<[f32; 3]>, Vec<u16>) {
    let (mut positions, mut normals, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0f32, 1.0] {
            let mut normal = [0.0; 3];
            normal[axis] = sign;
            let first = positions.len() as u16;
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (a, b) in [(-1.0f32, -1.0f32), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut corner = [0.0; 3];
                (corner[axis], corner[u], corner[v]) = (sign, a * sign, b);
                positions.push([corner[0] * 0.5, corner[1] * 0.5 + 0.5, corner[2] * 0.5]);
                normals.push(normal);
            }
            indices.extend([0, 1, 2, 0, 2, 3].map(|i| first + i));
        }
    }
    (positions, normals, indices)
}

fn unusable(why: &str) -> Error {
    Error::Unusable {
        what: format!("The city cannot be written as glTF: {why}"),
        remedy: "Show a part of it, or fewer children of each district".into(),
    }
}

/// Header and two chunks, each padded to four bytes.
fn file(mut json: Vec<u8>, mut bin: Vec<u8>) -> Result<Vec<u8>> {
    json.resize(json.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let length = |n: usize| u32::try_from(n).map_err(|_| unusable("it is larger than 4 GB"));
    let all = 12 + 8 + json.len() + 8 + bin.len();
    let mut out = Vec::with_capacity(all);
    out.extend(b"glTF");
    out.extend(2u32.to_le_bytes());
    out.extend(length(all)?.to_le_bytes());
    for (chunk, kind) in [(&json, b"JSON"), (&bin, b"BIN\0")] {
        out.extend(length(chunk.len())?.to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::city::testing::{configs, trees};
    use crate::city::{Appearance, CityPlan, CityTheme, Look};
    use memory_city_analysis::timeline::NodeId;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_written_is_read_back(tree in trees(), config in configs()) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let appearance = Appearance::new(&plan, &timeline, &Look::default());
            let marked = HashMap::from([(NodeId::ROOT, [0.5, 0.0, 1.0])]);
            let city = ShownCity {
                plan: &plan,
                timeline: &timeline,
                appearance: &appearance,
                time: 1,
                lit: None,
                theme: CityTheme::Light,
                painted: &marked,
            };
            let bytes = glb(&city, &Progress::new()).expect("written");
            // The reader validates all that the format says.
            let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).expect("valid glTF");
            let blob = blob.expect("a binary chunk");
            let boxes = city.boxes();
            prop_assert_eq!(document.nodes().count(), boxes.len());
            for (node, b) in document.default_scene().expect("a scene").nodes().zip(&boxes) {
                let (at, _, size) = node.transform().decomposed();
                prop_assert_eq!(at, b.foot.to_array());
                prop_assert!(size.iter().zip(b.size.to_array()).all(|(a, b)| (a - b).abs() <= 1e-4));
                let mesh = node.mesh().expect("a box");
                let primitive = mesh.primitives().next().expect("triangles");
                let reader = primitive.reader(|_| Some(&blob[..]));
                prop_assert_eq!(reader.read_positions().expect("corners").count(), 24);
                prop_assert_eq!(reader.read_indices().expect("triangles").into_u32().count(), 36);
                let colour = primitive.material().pbr_metallic_roughness().base_color_factor();
                prop_assert!(colour.iter().zip(b.colour).all(|(a, b)| (a - b).abs() < 0.01));
                let extras: serde_json::Value = serde_json::from_str(node.extras().as_ref().expect("extras").get()).expect("JSON");
                prop_assert_eq!(&extras["key"], &timeline.key(b.node));
                prop_assert_eq!(&extras["bytes"], b.amount.bytes);
            }
        }
    }

    #[test]
    fn faces_look_outwards() {
        let (positions, normals, indices) = unit_box();
        for triangle in indices.chunks(3) {
            let [a, b, c] = [0, 1, 2].map(|i| glam::Vec3::from(positions[triangle[i] as usize]));
            let normal = (b - a).cross(c - a).normalize();
            assert!((normal - glam::Vec3::from(normals[triangle[0] as usize])).length() < 1e-5);
        }
        assert_eq!(positions.len(), 24);
    }
}
