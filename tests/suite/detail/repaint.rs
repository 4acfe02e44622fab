//! A picture drawn over the frame before equals the picture drawn whole, after any action.

use super::*;
use bevy::prelude::{IntoScheduleConfigs as _, PreUpdate, Query, ResMut, Resource};
use bevy_egui::{EguiInput, EguiPreUpdateSet, egui};
use memory_city::viewer::document::Document;
use memory_city_analysis::timeline::NodeId;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::sync::Arc;

const SCREEN: (u32, u32) = (1100, 700);

/// What the mouse does to the panels.
#[derive(Resource, Default)]
struct Pointer(Vec<egui::Event>);

fn tell(mut inputs: Query<&mut EguiInput>, mut pointer: ResMut<Pointer>) {
    for mut input in &mut inputs {
        input.events.append(&mut pointer.0);
    }
}

#[derive(Clone, Debug)]
enum Deed {
    /// The mouse goes there, and may press a button.
    Point(f32, f32, bool),
    Wheel(f32),
    Turn(f32),
    Do(Action),
    Select(u32),
    Half(bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    let actions = [
        Action::Next,
        Action::Previous,
        Action::BirdsEye,
        Action::Pointers,
        Action::Labels,
        Action::Colour,
        Action::Metric,
        Action::Compare,
        Action::Multiples,
        Action::Panels,
        Action::Palette,
        Action::Escape,
        Action::Larger,
        Action::OwnScale,
        Action::PlanView,
    ];
    prop_oneof![
        4 => (0.0..1100f32, 0.0..700f32, any::<bool>()).prop_map(|(x, y, press)| Deed::Point(x, y, press)),
        1 => (-60.0..60f32).prop_map(Deed::Wheel),
        3 => (-0.1..0.1f32).prop_map(Deed::Turn),
        4 => prop::sample::select(actions.to_vec()).prop_map(Deed::Do),
        1 => (1..40u32).prop_map(Deed::Select),
        1 => any::<bool>().prop_map(Deed::Half),
    ]
}

fn carry_out(studio: &mut Studio, deed: &Deed) {
    let world = studio.app().world_mut();
    match *deed {
        Deed::Point(x, y, press) => {
            let pos = egui::pos2(x, y);
            let button = |pressed| egui::Event::PointerButton {
                pos,
                button: egui::PointerButton::Primary,
                pressed,
                modifiers: egui::Modifiers::NONE,
            };
            let moved = [egui::Event::PointerMoved(pos)];
            let pressed = [button(true), button(false)].into_iter().filter(|_| press);
            world.resource_mut::<Pointer>().0.extend(moved.into_iter().chain(pressed));
        }
        Deed::Wheel(by) => {
            let wheel = egui::Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta: egui::vec2(0.0, by),
                phase: egui::TouchPhase::Move,
                modifiers: egui::Modifiers::NONE,
            };
            world.resource_mut::<Pointer>().0.push(wheel);
        }
        Deed::Turn(by) => {
            let mut rig = world.resource_mut::<CameraRig>();
            let mut pose = rig.pose;
            pose.yaw += by;
            rig.jump_to(pose);
        }
        Deed::Do(action) => {
            world.write_message(action);
        }
        Deed::Select(node) => {
            let timeline = Arc::clone(world.resource::<Document>().timeline().expect("a document"));
            world.resource_mut::<Selection>().select(&timeline, NodeId(node));
        }
        Deed::Half(half) => world.resource_mut::<Sharpness>().moving = if half { 0.5 } else { 1.0 },
    }
}

#[test]
fn what_has_changed_drawn_over_the_last_picture_is_the_whole_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 3);
    let settings = Settings { prune: false, ..Settings::default() };
    let mut studio = Studio::new(SCREEN, 1).expect("a GPU, if only in software");
    studio
        .app()
        .init_resource::<Pointer>()
        .add_systems(PreUpdate, tell.after(EguiPreUpdateSet::ProcessInput).before(EguiPreUpdateSet::BeginPass));
    with_even_frames(&mut studio);
    studio.app().world_mut().resource_mut::<PanelState>().still = false;
    let document = open_document(&[file], &settings, &views::all().preparations(&settings), &Progress::new());
    studio.show(document.expect("it opens"));
    let studio = RefCell::new(studio);
    let mut runner =
        TestRunner::new(Config { cases: 12, failure_persistence: None, max_shrink_iters: 0, ..Config::default() });
    let checked = runner.run(&prop::collection::vec((deed(), 1..4usize), 1..12), |deeds| {
        let mut studio = studio.borrow_mut();
        for (deed, frames) in &deeds {
            carry_out(&mut studio, deed);
            (0..*frames).for_each(|_| studio.frame());
        }
        // What has been begun ends, and time stands still while the two are compared.
        studio.app().world_mut().insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        let base = studio.app().world().resource::<CameraRig>().pose;
        // Drawn over the last one where nothing happens, or while the city moves: both in the frame behind one in which all has come.
        let turned = CameraPose { yaw: base.yaw + if deeds.len() % 2 == 1 { 0.01 } else { 0.0 }, ..base };
        let mut picture = |whole: bool| {
            studio.app().world_mut().resource_mut::<CameraRig>().jump_to(base);
            // A table finds out how wide its columns are when it has been drawn.
            (0..3).for_each(|_| studio.frame());
            while studio.waits() {
                studio.frame();
                std::thread::sleep(Duration::from_millis(2));
            }
            studio.draw_whole(whole);
            studio.app().world_mut().resource_mut::<CameraRig>().jump_to(turned);
            let picture = studio.frame_picture().expect("a picture");
            studio.draw_whole(false);
            picture
        };
        let (over, whole) = (picture(false), picture(true));
        with_even_frames(&mut studio);
        let wrong = over.enumerate_pixels().filter(|(x, y, pixel)| whole.get_pixel(*x, *y) != *pixel);
        let (count, first) = (wrong.clone().count(), wrong.map(|(x, y, _)| (x, y)).next());
        prop_assert_eq!((count, first), (0, None));
        Ok(())
    });
    checked.expect("the same pictures");
}
