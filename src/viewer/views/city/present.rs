//! Translation of the viewer's state to [`SceneInput`]: instances, cones, camera record. Derives, decides nothing.

use super::banded::{self, PIECES};
use super::routes::{self, BoxMarks, RouteKey};
use super::sight::DrawnSight;
use super::step::TimeStep;
use crate::viewer::city::{
    CameraRig, CityPane, ConeCount, Multiples, Sharpness, Shown, ShownCones, ShownRoutes, TimeCell,
};
use crate::viewer::clock::Clock;
use crate::viewer::references::References;
use crate::viewer::root_paths::RootPaths;
use crate::viewer::scene::records::{NO_INSTANCE, ViewRecord};
use crate::viewer::scene::renderer::DrawPlan;
use crate::viewer::scene::{SceneCell, SceneInput, Versioned};
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{Marks, Pointing, Selection, Target};
use crate::viewer::settings::Settings;
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::{self, ReferenceShape, Roofs, WantedCones};
use std::sync::Arc;

/// Input of the cones on screen.
#[derive(PartialEq, Clone)]
pub struct ConeKey {
    map: (usize, NodeId),
    boxes: u64,
    shown: (bool, bool, bool),
    run: (ReferenceShape, usize),
    pointed: Option<NodeId>,
    hovered: Option<Target>,
    on: Option<usize>,
}

impl ConeKey {
    /// Whether both have the same ways, apart from the one under the mouse.
    fn has_ways_of(&self, other: &ConeKey) -> bool {
        (self.map, self.boxes, self.shown, self.run) == (other.map, other.boxes, other.shown, other.run)
    }
}

/// Input of the boxes: when several groups were selected, and versions.
type BoxKey = (Option<Tick>, [u64; 4]);

/// Input of the cones, boxes and routes drawn last.
type Drawn<'s> = (Local<'s, Option<ConeKey>>, Local<'s, BoxKey>, Local<'s, Option<RouteKey>>, Local<'s, DrawnSight>);

/// The visible time, its place in the window, and the sharpness.
type Seen<'w> = (Res<'w, Clock>, Res<'w, TimeStep>, Res<'w, CityPane>, Res<'w, Multiples>, Res<'w, Sharpness>);

/// Fills the scene input.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn present(
    mut shown: ResMut<Shown>,
    (clock, step, pane, multiples, sharpness): Seen<'_>,
    settings: Res<Settings>,
    (selection, pointing): (Res<Selection>, Res<Pointing>),
    (marks, search): (Res<Marks>, Res<GroupSearch>),
    (references, ways): (Res<References>, Res<RootPaths>),
    rig: Res<CameraRig>,
    mut scene: ResMut<SceneInput>,
    (mut cone_count, mut shown_cones, mut shown_routes): (ResMut<ConeCount>, ResMut<ShownCones>, ResMut<ShownRoutes>),
    (mut cone_key, mut box_key, mut route_key, mut sight): Drawn<'_>,
) {
    let clip_from_world = rig.clip_from_world();
    let theme = settings.theme;
    let backdrop = pane.backdrop.map_or_else(|| theme.backdrop(), |colour| [colour; 3]);
    let with_alpha = |c: [f32; 3]| [c[0], c[1], c[2], 1.0];
    let mut instances = [NO_INSTANCE; 4];
    let mut plan = Arc::<DrawPlan>::default();
    let scene = &mut *scene;
    scene.cells = Vec::new();
    if let Some(city) = shown.0.as_mut() {
        let last = city.times().saturating_sub(1);
        city.show_at_once(multiples.0.len());
        for TimeCell { time, rect, .. } in &multiples.0 {
            let (corner, size) = (Vec2::new(rect.left(), rect.top()), Vec2::new(rect.width(), rect.height()));
            let viewport = rig.shares_of(corner, size);
            let of_time = city.states((*time).min(last));
            scene.cells.push(SceneCell { viewport, states: of_time.records, over: of_time.over, cones: false });
        }
    }
    match &mut shown.0 {
        None => {
            scene.boxes = Versioned::default();
            scene.painted = Versioned::default();
            scene.over = Versioned::default();
            *box_key = Default::default();
            scene.cones = Versioned::default();
            *cone_key = None;
            *cone_count = ConeCount::default();
            *shown_cones = ShownCones::default();
            *route_key = None;
            shown_routes.0 = None;
        }
        Some(city) => {
            let several = selection.nodes().len() > 1;
            let freed = ways.freed();
            let cut = freed.map_or(0, |(.., version)| version);
            let selected = several.then(|| selection.last_changed());
            let key = (selected, [city.boxes.version, cut, search.version(), marks.version()]);
            if *box_key != key {
                *box_key = key;
                let freed = freed.map(|(_, cut, _)| &cut.shares);
                let lit = search.found().map(|found| &found.lit);
                let marks = BoxMarks { selection: &selection, marks: &marks, freed, lit };
                let marked = routes::marked_boxes(city, &marks, clock.time);
                (scene.boxes, scene.painted) = (marked.boxes, marked.painted);
                sight.keep(marked.kept);
            }
            scene.before = step.before.clone();
            scene.after = step.after.clone();
            scene.over = step.over.clone();
            let of = |target: Option<Target>| target.and_then(|t| city.box_of(t));
            // The other end of a reference that the mouse is on lights up.
            let far = shown_cones.hovered.and_then(|at| shown_cones.cones.get(at));
            let far = far.map(|cone| city.target_of_plot(cone.other));
            let marked = [
                of(selection.node().map(Target::Node)),
                of(pointing.pointed.map(Target::Node).or(far).or(pointing.hovered)),
            ];
            [instances[0], instances[1]] = marked.map(|mark| mark.unwrap_or(NO_INSTANCE));
            let has_marks = scene.boxes.version != city.boxes.version || scene.painted.version != 0;
            let shadows = settings.shadows && pane.backdrop.is_none();
            plan = sight.plan(city, &rig, (settings.opacity, shadows), &sharpness, (marked, has_marks));
            // RootPaths instead of cones: both together are a tangle.
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
            let of_routes = drawn.as_ref().map(|_| clock.time);
            let wanted = settings.show_pointers && drawn.is_none();
            let map = selection.node().filter(|_| wanted).and_then(|node| {
                references.map.as_ref().filter(|(_, of, _)| *of == node).map(|(time, _, map)| (*time, node, map))
            });
            if map.is_none() {
                *shown_cones = ShownCones::default();
            }
            let key = map.map(|(time, node, _)| ConeKey {
                map: (time, node),
                boxes: city.boxes.version,
                shown: (settings.show_pointers, settings.show_incoming, settings.show_outgoing),
                run: (settings.reference_shape, settings.reference_count),
                on: shown_cones.hovered,
                pointed: pointing.pointed,
                hovered: pointing.hovered,
            });
            if key != *cone_key && drawn.is_none() {
                let same_ways = cone_key.as_ref().zip(key.as_ref()).is_some_and(|(old, new)| old.has_ways_of(new));
                *cone_key = key;
                let mut records = Vec::new();
                if !same_ways {
                    *cone_count = ConeCount::default();
                }
                if let Some((time, node, map)) = map {
                    if !same_ways {
                        let wanted = WantedCones {
                            most: settings.reference_count,
                            incoming: settings.show_incoming,
                            outgoing: settings.show_outgoing,
                        };
                        let found = city::cones(&city.plan, &city.timeline, &city.appearance, time, node, map, wanted);
                        let states = city.states(time);
                        let standing = |plot: usize| city.appearance.standing(states.of(plot));
                        let roofs = Roofs::new(&city.plan, &city.appearance, &standing);
                        let shape = settings.reference_shape;
                        shown_cones.ways = city::cone_ways(&city.plan, &found.cones, shape, PIECES, Some(&roofs));
                        *cone_count = ConeCount {
                            drawn: found.cones.len(),
                            left_out: found.left_out,
                            references: (found.references, found.left_out_references),
                            elsewhere: (found.elsewhere, found.elsewhere_references),
                        };
                        shown_cones.cones = found.cones;
                        shown_cones.time = Some(time);
                        shown_cones.layout = city.layout;
                    }
                    for (at, (cone, way)) in shown_cones.cones.iter().zip(&shown_cones.ways).enumerate() {
                        let other = city.target_of_plot(cone.other);
                        let lit = shown_cones.hovered == Some(at)
                            || Some(other) == pointing.hovered
                            || Some(other) == pointing.pointed.map(Target::Node);
                        banded::append(way, cone.incoming, lit, &mut records);
                    }
                }
                scene.cones = Versioned::new(records);
            }
            // They are those of one time: of several beside each other, they stand in that.
            let of = of_routes.or(cone_key.as_ref().map(|key| key.map.0));
            for (cell, TimeCell { time, .. }) in scene.cells.iter_mut().zip(&multiples.0) {
                cell.cones = Some(*time) == of;
            }
        }
    }
    let placed = shown.0.is_some() && !rig.awaits_pane();
    if !placed {
        // For one frame it would stand where the pane is not: sky alone, as before it came.
        plan = Arc::default();
    }
    scene.plan = plan;
    scene.sharpness = sharpness.now;
    scene.viewport = Some(rig.viewport());
    if pane.rect.is_none() {
        // Behind another tab: nothing is drawn.
        scene.view = None;
        return;
    }
    scene.view = Some(ViewRecord {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
        eye: rig.eye().extend(shown.0.as_ref().map_or(1.0, |city| city.appearance.height_unit())).to_array(),
        scene: [
            clock.eased(),
            if settings.shadows && pane.backdrop.is_none() { 0.38 } else { 0.0 },
            if placed && pane.backdrop.is_none() { city::CITY_SIZE as f32 / 2.0 } else { -1000.0 },
            // How far up the eye is for what lies on the ground, in units of how far it is in a world that is drawn flat.
            rig.flattened().y,
        ],
        marks: instances,
        gradient: match &shown.0 {
            Some(city) => city.appearance.legend().gradient.stops().map(with_alpha),
            None => [[0.0; 4]; city::Gradient::STOPS],
        },
        selected: with_alpha(city::SELECTED_COLOUR),
        backdrop: backdrop.map(with_alpha),
        cut: [theme.stays(), city::FREED_COLOUR].map(with_alpha),
        line: with_alpha(theme.line()),
        pixel: [0.0; 4],
    });
}
