//! From the state of the viewer to [`SceneInput`]: instances, cones, camera record. Derives, decides nothing.

use super::fly::CameraRig;
use super::laid_out::Shown;
use super::pane::CityPane;
use super::routes::{self, RouteKey, ShownRoutes};
use super::step::TimeStep;
use crate::viewer::clock::Clock;
use crate::viewer::panels::theme::pack;
use crate::viewer::references::References;
use crate::viewer::scene::records::{ConeRecord, NO_INSTANCE, ViewRecord};
use crate::viewer::scene::renderer::DrawPlan;
use crate::viewer::scene::{SceneInput, Versioned};
use crate::viewer::selection::{Selection, Target};
use crate::viewer::settings::Settings;
use crate::viewer::ways::Ways;
use bevy::prelude::*;
use glam::Vec3;
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city;

/// What the cones on screen were made for.
#[derive(PartialEq, Clone)]
pub struct ConeKey {
    map: (usize, NodeId),
    boxes: u64,
    shown: (bool, bool, bool),
    pointed: Option<NodeId>,
    hovered: Option<Target>,
}

/// How many cones there are, and how many more there would be.
#[derive(Resource, Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConeCount {
    /// Drawn.
    pub drawn: usize,
    /// Left out because they are the thinnest.
    pub left_out: usize,
}

/// What cones, boxes and routes were made of that were drawn last.
type Drawn<'s> = (Local<'s, Option<ConeKey>>, Local<'s, (u64, u64, u64)>, Local<'s, Option<RouteKey>>);

/// Fills the scene input.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn present(
    shown: Res<Shown>,
    (clock, step, pane): (Res<Clock>, Res<TimeStep>, Res<CityPane>),
    settings: Res<Settings>,
    selection: Res<Selection>,
    (references, ways): (Res<References>, Res<Ways>),
    rig: Res<CameraRig>,
    mut scene: ResMut<SceneInput>,
    (mut cone_count, mut shown_routes): (ResMut<ConeCount>, ResMut<ShownRoutes>),
    (mut cone_key, mut box_key, mut route_key): Drawn<'_>,
) {
    let clip_from_world = rig.clip_from_world();
    let palette = city::palette();
    let with_alpha = |c: [f32; 3]| [c[0], c[1], c[2], 1.0];
    let mut marks = [NO_INSTANCE; 4];
    let mut plan = DrawPlan::default();
    let scene = &mut *scene;
    match &shown.0 {
        None => {
            scene.boxes = Versioned::default();
            *box_key = Default::default();
            scene.cones = Versioned::default();
            *cone_key = None;
            *route_key = None;
            shown_routes.0 = None;
        }
        Some(city) => {
            let several = selection.nodes().len() > 1;
            let freed = ways.freed();
            let cut = freed.map_or(0, |(.., version)| version);
            let key = (city.boxes.version, if several { selection.revision() } else { 0 }, cut);
            if *box_key != key {
                *box_key = key;
                scene.boxes = match (several, freed) {
                    (false, None) => city.boxes.clone(),
                    (_, freed) => {
                        routes::marked_boxes(city, &selection, freed.map(|(_, cut, _)| &cut.shares), clock.time)
                    }
                };
            }
            scene.before = step.before.clone();
            scene.after = step.after.clone();
            plan = DrawPlan {
                solid: city.solid,
                boxes: city.boxes.records.len() as u32,
                opacity: settings.opacity,
                shadows: settings.shadows,
            };
            let of = |target: Option<Target>| target.and_then(|t| city.box_of(t)).unwrap_or(NO_INSTANCE);
            marks[0] = of(selection.node().map(Target::Node));
            marks[1] = of(selection.pointed.map(Target::Node).or(selection.hovered));
            // Ways instead of cones: both together are a tangle.
            let drawn = ways.found().map(|found| (found, routes::route_key(city, &ways, found, clock.time)));
            if drawn.as_ref().map(|(_, key)| key) != route_key.as_ref() {
                *route_key = drawn.as_ref().map(|(_, key)| key.clone());
                if let Some((found, _)) = &drawn {
                    let (records, routes) = routes::records(city, &ways, found, clock.time);
                    scene.cones = Versioned::new(records);
                    shown_routes.0 = Some(routes);
                } else {
                    scene.cones = Versioned::default();
                    shown_routes.0 = None;
                }
                *cone_key = None;
                *cone_count = ConeCount::default();
            }
            let wanted = settings.show_pointers && drawn.is_none();
            let map = selection.node().filter(|_| wanted).and_then(|node| {
                references.map.as_ref().filter(|(_, of, _)| *of == node).map(|(time, _, map)| (*time, node, map))
            });
            let key = map.map(|(time, node, _)| ConeKey {
                map: (time, node),
                boxes: city.boxes.version,
                shown: (settings.show_pointers, settings.show_incoming, settings.show_outgoing),
                pointed: selection.pointed,
                hovered: selection.hovered,
            });
            if key != *cone_key && drawn.is_none() {
                *cone_key = key;
                let mut records = Vec::new();
                *cone_count = ConeCount::default();
                if let Some((time, node, map)) = map {
                    let cones = city::cones(&city.plan, &city.timeline, &city.appearance, time, node, map);
                    // Of a direction that is off, nothing is missing.
                    let outgoing = cones.left_out - cones.left_out_incoming;
                    let counted = |shown: bool, n: usize| if shown { n } else { 0 };
                    cone_count.left_out = counted(settings.show_incoming, cones.left_out_incoming)
                        + counted(settings.show_outgoing, outgoing);
                    for cone in &cones.cones {
                        if if cone.incoming { !settings.show_incoming } else { !settings.show_outgoing } {
                            continue;
                        }
                        let other = city.target_of_plot(cone.other);
                        let lit =
                            Some(other) == selection.hovered || Some(other) == selection.pointed.map(Target::Node);
                        let colour = if cone.incoming { city::INCOMING_COLOUR } else { city::OUTGOING_COLOUR };
                        // Two cones between the same buildings lie beside each other, not in each other.
                        let both = cones.cones.iter().any(|c| c.other == cone.other && c.incoming != cone.incoming);
                        let ahead = cone.to - cone.from;
                        let aside = ahead.cross(Vec3::Y).normalize_or_zero();
                        let shift = if both { aside * cone.radius_from.max(cone.radius_to) } else { Vec3::ZERO };
                        records.push(ConeRecord {
                            start: (cone.from + shift).extend(cone.radius_from).to_array(),
                            end: (cone.to + shift).extend(cone.radius_to).to_array(),
                            paint: [pack(colour), u32::from(lit)],
                        });
                    }
                    cone_count.drawn = records.len();
                }
                scene.cones = Versioned::new(records);
            }
        }
    }
    scene.plan = plan;
    scene.viewport = Some(rig.viewport());
    if pane.rect.is_none() {
        // Behind another tab: nothing is drawn.
        scene.view = None;
        return;
    }
    scene.view = Some(ViewRecord {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
        eye: rig.pose.eye.extend(shown.0.as_ref().map_or(1.0, |city| city.appearance.height_unit() * rig.heights())).to_array(),
        scene: [
            clock.eased(),
            if settings.shadows { 0.38 } else { 0.0 },
            if shown.0.is_some() { city::CITY_SIZE as f32 / 2.0 } else { -1000.0 },
            0.0,
        ],
        marks,
        gradient: match &shown.0 {
            Some(city) => city.appearance.legend().gradient.stops().map(with_alpha),
            None => [[0.0; 4]; city::Gradient::STOPS],
        },
        selected: with_alpha(city::SELECTED_COLOUR),
        backdrop: palette.map(with_alpha),
        cut: [city::QUIET_COLOUR, city::FREED_COLOUR].map(with_alpha),
    });
}
