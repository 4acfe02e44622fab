//! The city follows the document and the settings: what is shown is laid out anew, in the background, and stays until the next is ready.

use super::moving::Moving;
use super::step::TimeStep;
use crate::viewer::action::Action;
use crate::viewer::city::{self, CameraRig, City, Ground, Shown};
use crate::viewer::clock::Clock;
use crate::viewer::document::{Closed, Document, Grew, Opened, Preparation, Preparations};
use crate::viewer::frame::Awake;
use crate::viewer::job::Job;
use crate::viewer::keys;
use crate::viewer::notices::Notices;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use std::sync::Arc;

/// A layout of the open document under changed settings, on its way.
#[derive(Resource, Default)]
pub(super) struct LayingOut(Option<(Settings, Job<City>)>);

impl LayingOut {
    /// Whether a layout is on its way.
    pub(super) fn active(&self) -> bool {
        self.0.is_some()
    }
}

/// Basis of the trees on screen: the grouping, and the version of its definitions.
#[derive(Resource, Default)]
pub(super) struct ShownGroups(Option<(String, u64)>);

impl ShownGroups {
    /// Takes the grouping and its version from the open document. Returns whether they have changed.
    fn follow(&mut self, document: &Document) -> bool {
        let now = document.get().map(|open| (open.made_with.grouping.clone(), open.made_with.definitions));
        let are_others = self.0 != now;
        self.0 = now;
        are_others
    }
}

pub(super) fn preparation(settings: Settings, ground: Option<Ground>) -> Preparation {
    Arc::new(move |source, arrival| Box::new(City::prepared(source, arrival, &settings, ground.as_ref())))
}

/// Keeps the preparation in step with the settings and the city.
pub(super) fn keep_preparation(
    shown: Res<Shown>,
    settings: Res<Settings>,
    mut preparations: ResMut<Preparations>,
    mut kept: Local<Option<(u64, Settings)>>,
) {
    let now = (shown.0.as_ref().map_or(0, |city| city.layout), &*settings);
    if kept.as_ref().is_none_or(|(layout, settings)| (*layout, settings) != now) {
        *kept = Some((now.0, settings.clone()));
        let ground = shown.0.as_ref().map(|city| (Arc::clone(&city.plan), Arc::clone(&city.timeline)));
        preparations.set(city::ID, preparation(settings.clone(), ground));
    }
}

fn take(document: &mut Document, settings: &Settings) -> Option<City> {
    let prepared = document.prepared().take::<City>(city::ID);
    prepared.or_else(|| document.timeline().map(|timeline| City::new(timeline, settings)))
}

pub(super) fn opened(
    _: On<Opened>,
    mut document: ResMut<Document>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut moving: ResMut<Moving>,
    (mut laying, mut groups): (ResMut<LayingOut>, ResMut<ShownGroups>),
    settings: Res<Settings>,
) {
    groups.follow(&document);
    shown.0 = take(&mut document, &settings);
    rig.show_city(shown.0.as_ref().map_or(0.0, |city| city.tallest()));
    (*moving, *laying) = Default::default();
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub(super) fn grew(
    grew: On<Grew>,
    mut document: ResMut<Document>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut moving: ResMut<Moving>,
    (mut laying, mut groups): (ResMut<LayingOut>, ResMut<ShownGroups>),
    step: Res<TimeStep>,
    settings: Res<Settings>,
) {
    let regrouped = groups.follow(&document);
    let Some(mut city) = take(&mut document, &settings) else { return };
    let from = shown.0.as_mut().filter(|_| grew.anew && document.live().is_some());
    *moving = from.map(|before| Moving::between(before, &mut city, step.time())).unwrap_or_default();
    *laying = LayingOut::default();
    let tallest = city.tallest();
    match grew.anew {
        true => rig.laid_out_anew(tallest, regrouped, |eye| city.buries(eye, step.time())),
        false => rig.set_tallest(tallest),
    }
    shown.0 = Some(city);
}

pub(super) fn closed(
    _: On<Closed>,
    mut shown: ResMut<Shown>,
    mut moving: ResMut<Moving>,
    mut laying: ResMut<LayingOut>,
) {
    shown.0 = None;
    (*moving, *laying) = Default::default();
}

/// Lays the city out anew when the settings it depends on change, and gives it another look. The old city stays until the next is ready.
/// A look of few buildings is ready at once.
pub(super) fn follow_settings(
    settings: Res<Settings>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut laying: ResMut<LayingOut>,
    (mut notices, mut moving): (ResMut<Notices>, ResMut<Moving>),
    (mut awake, clock): (ResMut<Awake>, Res<Clock>),
) {
    awake.wait_if(laying.active());
    if let Some(outcome) = laying.0.as_ref().and_then(|(_, job)| job.poll()) {
        laying.0 = None;
        match outcome {
            Ok(mut city) => {
                let tallest = city.tallest();
                match shown.0.as_ref() {
                    // Another look at the same.
                    Some(before) if Arc::ptr_eq(&before.plan, &city.plan) => {}
                    Some(before) if before.plan.part() != city.plan.part() => rig.show_part(tallest),
                    _ => rig.laid_out_anew(tallest, false, |eye| city.buries(eye, clock.time)),
                }
                let before = shown.0.as_mut().filter(|before| before.made_with.window != city.made_with.window);
                if let Some(before) = before {
                    *moving = Moving::between(before, &mut city, clock.time);
                }
                shown.0 = Some(city);
            }
            Err(panic) => notices.tell(panic),
        }
    }
    let Some(city) = &shown.0 else { return };
    let aim = laying.0.as_ref().map_or(&city.made_with, |(settings, _)| settings);
    let mut wanted = settings.clone();
    wanted.metric = wanted.metric_in(&city.timeline);
    if aim.city_config() != wanted.city_config() || aim.parts != wanted.parts {
        let timeline = Arc::clone(&city.timeline);
        let job_settings = wanted.clone();
        let job = Job::behind_frames(move |_| City::new(&timeline, &job_settings));
        laying.0 = Some((wanted, job));
        awake.keep_if(true);
    } else if !laying.active() && (city.made_with.look() != settings.look() || city.made_with.theme != settings.theme) {
        let make = city.with_look(wanted.clone());
        if city.is_large() {
            laying.0 = Some((wanted, Job::behind_frames(move |_| make())));
            awake.keep_if(true);
        } else {
            shown.0 = Some(make());
        }
    }
}

/// Divides the ground anew for the times from the base to that shown, or for all again. Live documents are divided by another system.
pub(super) fn divide_anew(
    mut actions: MessageReader<Action>,
    (document, clock): (Res<Document>, Res<Clock>),
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
) {
    if !actions.read().any(|action| *action == Action::ReLayout) || document.live().is_some() {
        return;
    }
    let window =
        settings.base.filter(|base| *base != clock.time).map(|base| (base.min(clock.time), base.max(clock.time)));
    match (settings.window, window) {
        (None, None) => {
            let key = keys::key(Action::Compare);
            notices.tell(format!(
                "Choose a base first ({key}), then go to another time: the ground is divided for what lies between"
            ));
        }
        (Some(now), Some(window)) if now != window => settings.window = Some(window),
        (None, window) => settings.window = window,
        (Some(_), _) => settings.window = None,
    }
}
