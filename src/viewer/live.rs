//! Cities that grow while programs run: listens when asked to, shows what has come, and tells the programs what is
//! selected.
//!
//! The frame only looks at what is complete ([`Hub::latest`]); laying it out is a job. What has grown is put on the ground
//! there is ([`memory_city_views::city::CityPlan::grown`]); dividing the ground anew is done on demand, and every building moves from
//! its old place to its new one.

use super::action::Action;
use super::clock::Clock;
use super::fly::CameraRig;
use super::job::Job;
use super::notices::Notices;
use super::scene::Versioned;
use super::scene::records::BoxRecord;
use super::selection::{References, Selection};
use super::settings::Settings;
use super::shown::{City, LiveOf, Shown};
use bevy::prelude::*;
use bevy::winit::{EventLoopProxyWrapper, WinitUserEvent};
use memory_city_analysis::timeline::Source;
use memory_city_live::{DEFAULT_ADDRESS, Hub, Limits, Server, ServerOptions, Status, Wishes};
use std::sync::Arc;

/// Whether and how to listen.
#[derive(Clone, Debug, Default)]
pub struct ListenOptions {
    /// What clients may ask.
    pub limits: Limits,
    /// Where, and who.
    pub server: ServerOptions,
}

/// What listens, and what it shows.
#[derive(Resource, Default)]
pub struct Listening {
    /// How to listen when asked to.
    options: Option<ListenOptions>,
    /// Whether to begin with the first frame.
    at_once: bool,
    server: Option<Server>,
    /// The source on screen, or to be.
    name: Option<String>,
    /// A source that was clicked.
    pub choose: Option<String>,
    /// The number of the last wish to show a source.
    wanted: u64,
    wishes: Wishes,
    told: Option<(Option<String>, usize)>,
    making: Option<Making>,
    moving: Option<Moving>,
    /// Whether the ground shall be divided anew.
    anew: bool,
}

/// A city that is being laid out.
struct Making {
    name: String,
    anew: bool,
    job: Job<City>,
}

/// Buildings on the way from their old places to their new ones.
struct Moving {
    from: Vec<BoxRecord>,
    to: Versioned<BoxRecord>,
    progress: f32,
}

/// Seconds a building takes to its new place.
const MOVE: f32 = 0.9;
/// More buildings than that jump.
const MOST_MOVING: usize = 200_000;

impl Listening {
    /// Begins with the first frame, where options are given.
    pub fn at_once(options: Option<ListenOptions>) -> Self {
        Listening { at_once: options.is_some(), options, ..Listening::default() }
    }

    /// Where it listens, with the token clients need.
    pub fn address(&self) -> Option<(String, Option<&str>)> {
        self.server.as_ref().map(|s| (format!("ws://{}", s.address()), s.token()))
    }

    /// The sources.
    pub fn sources(&self) -> Vec<Status> {
        self.server.as_ref().map(|s| s.hub().status()).unwrap_or_default()
    }

    /// The source on screen.
    pub fn showing(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether anything goes on that will change the screen.
    pub fn active(&self) -> bool {
        self.making.is_some() || self.moving.is_some()
    }

    fn hub(&self) -> Option<&Arc<Hub>> {
        self.server.as_ref().map(Server::hub)
    }
}

/// Starts and stops listening.
pub fn switch_listening(
    mut listening: ResMut<Listening>,
    mut actions: MessageReader<Action>,
    mut notices: ResMut<Notices>,
    proxy: Option<Res<EventLoopProxyWrapper>>,
) {
    let asked = actions.read().filter(|a| **a == Action::Listen).count() % 2 == 1;
    let at_once = std::mem::take(&mut listening.at_once);
    if !(asked || at_once) {
        return;
    }
    if let Some(server) = listening.server.take() {
        notices.tell(format!("No longer listening on ws://{}. What came stays on screen", server.address()));
        *listening = Listening { options: listening.options.take(), ..Listening::default() };
        return;
    }
    let options = listening.options.clone().unwrap_or_else(|| ListenOptions {
        server: ServerOptions { address: DEFAULT_ADDRESS.into(), ..ServerOptions::default() },
        ..ListenOptions::default()
    });
    // A city at rest draws no frames: what comes wakes it.
    let proxy = proxy.map(|p| (**p).clone());
    let hub = Hub::new(options.limits, move || {
        if let Some(proxy) = &proxy {
            let _ = proxy.send_event(WinitUserEvent::WakeUp);
        }
    });
    match Server::start(hub, &options.server) {
        Ok(server) => {
            notices.tell(format!("Listening on ws://{}: docs/live-protocol.md says what to send", server.address()));
            listening.server = Some(server);
        }
        Err(error) => notices.tell(error.to_string()),
    }
}

/// Shows what has come.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn follow_live(
    mut listening: ResMut<Listening>,
    mut shown: ResMut<Shown>,
    mut clock: ResMut<Clock>,
    mut selection: ResMut<Selection>,
    mut references: ResMut<References>,
    mut rig: ResMut<CameraRig>,
    mut notices: ResMut<Notices>,
    mut actions: MessageReader<Action>,
    settings: Res<Settings>,
) {
    let asked = actions.read().any(|a| *a == Action::PlanAnew);
    let listening = listening.bypass_change_detection();
    let Some(hub) = listening.hub().cloned() else { return };
    choose_source(listening, &hub, shown.0.as_ref());
    let Some(name) = listening.name.clone() else { return };
    take_wishes(listening, &hub, &name, &mut shown, &mut clock, &mut selection);
    listening.anew |= asked && live_of(&shown).is_some();
    if let Some(outcome) = listening.making.as_ref().and_then(|m| m.job.poll())
        && let Some(Making { name: made_for, anew, .. }) = listening.making.take()
    {
        match outcome {
            // Another source may have been chosen in the meantime.
            Ok(mut city) if made_for == name => {
                listening.moving = if anew { moving(&mut shown, &mut city, clock.time) } else { None };
                put(city, &mut shown, &mut clock, &mut selection, &mut references, &mut rig, &mut notices);
            }
            Ok(_) => {}
            Err(panic) => notices.tell(panic),
        }
    }
    let latest = hub.latest(&name);
    if let Some(source) = latest.source.filter(|_| listening.making.is_none()) {
        let before = shown.0.as_ref().filter(|c| c.live.as_ref().is_some_and(|l| l.name == name));
        let new = before.and_then(|c| c.live.as_ref()).is_none_or(|l| l.revision < latest.revision);
        if new || listening.anew {
            let anew = std::mem::take(&mut listening.anew);
            let ground = before.filter(|_| !anew).map(|c| (Arc::clone(&c.plan), Arc::clone(&c.timeline)));
            let of = LiveOf { name: name.clone(), revision: latest.revision };
            let settings = settings.clone();
            let job = Job::start(move |_| City::live(of, source, ground, &settings));
            listening.making = Some(Making { name: name.clone(), anew, job });
        }
    }
    if let Some(city) = shown.0.as_ref().filter(|c| c.live.as_ref().is_some_and(|l| l.name == name)) {
        let told = (selection.node().map(|node| city.timeline.key(node)), clock.time);
        if listening.told.as_ref() != Some(&told) {
            hub.tell(&name, told.0.clone(), told.1);
            listening.told = Some(told);
        }
    }
}

fn live_of(shown: &Shown) -> Option<&LiveOf> {
    shown.0.as_ref().and_then(|city| city.live.as_ref())
}

/// Which source to show: the one that was clicked, or that a client asked for, or the first when nothing else is open.
fn choose_source(listening: &mut Listening, hub: &Arc<Hub>, city: Option<&City>) {
    let (count, wanted) = hub.wanted();
    let mut next = listening.choose.take();
    if count > listening.wanted {
        listening.wanted = count;
        next = Some(wanted);
    }
    // Another input was opened over it: it is left alone until it is chosen again.
    if listening.making.is_none() && city.is_some_and(|c| c.live.is_none()) && listening.told.is_some() {
        (listening.name, listening.told) = (None, None);
    }
    if next.is_none() && listening.name.is_none() && city.is_none() {
        next = hub.status().into_iter().find(|s| s.times > 0).map(|s| s.name);
    }
    if let Some(name) = next.filter(|name| listening.name.as_ref() != Some(name)) {
        listening.wishes = hub.wishes(&name);
        listening.making = None;
        listening.told = None;
        listening.name = Some(name);
    }
}

/// Does what clients wish.
fn take_wishes(
    listening: &mut Listening,
    hub: &Arc<Hub>,
    name: &str,
    shown: &mut Shown,
    clock: &mut Clock,
    selection: &mut Selection,
) {
    let Some(city) = shown.0.as_mut().filter(|c| c.live.as_ref().is_some_and(|l| l.name == *name)) else { return };
    let wishes = hub.wishes(name);
    if wishes.select.0 > listening.wishes.select.0 {
        match &wishes.select.1 {
            None => selection.clear(),
            Some(key) => match city.source.find(key) {
                Some(node) => selection.select(&city.timeline, node),
                // It has come, but is not on screen yet.
                None => return,
            },
        }
        listening.told = Some((wishes.select.1.clone(), clock.time));
    }
    if wishes.go.0 > listening.wishes.go.0 {
        if wishes.go.1 >= city.times() {
            return;
        }
        clock.step_to(city, wishes.go.1);
    }
    listening.anew |= wishes.plan > listening.wishes.plan;
    listening.wishes = wishes;
}

/// Puts a city in the place of the one on screen.
fn put(
    mut city: City,
    shown: &mut Shown,
    clock: &mut Clock,
    selection: &mut Selection,
    references: &mut References,
    rig: &mut CameraRig,
    notices: &mut Notices,
) {
    let last = city.times().saturating_sub(1);
    let before = shown.0.as_ref().filter(|b| b.live.as_ref().map(|l| &l.name) == city.live.as_ref().map(|l| &l.name));
    match before {
        None => {
            *clock = Clock::default();
            clock.jump(&mut city, last);
            selection.reset();
            rig.show_city(city.tallest);
        }
        Some(before) => {
            // Who looks at the last time goes on with it; who looks back stays there.
            let follows = clock.time + 1 >= before.times();
            if let Some(lost) = selection.rebind(&city.timeline) {
                notices.tell(format!("Deselected: there is no group {lost} any more"));
            }
            clock.refresh(&mut city);
            if follows {
                clock.step_to(&mut city, last);
            }
            rig.set_tallest(city.tallest);
        }
    }
    references.reset();
    shown.0 = Some(city);
}

/// From where each box of the new city comes, as large as it is drawn at the shown time.
fn moving(shown: &mut Shown, city: &mut City, time: usize) -> Option<Moving> {
    let before = shown.0.as_mut()?;
    let to = city.boxes.clone();
    if to.records.len() > MOST_MOVING || before.live.as_ref().map(|l| &l.name) != city.live.as_ref().map(|l| &l.name) {
        return None;
    }
    let at = |city: &mut City| city.states(time.min(city.times().saturating_sub(1))).plots;
    let (was, is) = (at(before), at(city));
    let (before, city) = (&*before, &*city);
    let from = to.records.iter().enumerate().map(|(i, record)| {
        let target = city.target_of_box(i);
        let same = city.same_in(target, before);
        match same.and_then(|target| before.box_of(target)) {
            Some(old) => {
                let [x, z, half_x, half_z] = before.boxes.records[old as usize].cell;
                let was = same.and_then(|target| before.plot_of(target)).and_then(|plot| was.get(plot));
                let is = city.plot_of(target).and_then(|plot| is.get(plot));
                // The same value is another share of another plot.
                let factor = match (was, is) {
                    (Some(was), Some(is)) if is.side > 0 => f32::from(was.side) / f32::from(is.side),
                    _ => 1.0,
                };
                BoxRecord { cell: [x, z, half_x * factor, half_z * factor], ..*record }
            }
            // What is new grows out of its place.
            None => BoxRecord { cell: [record.cell[0], record.cell[1], 0.0, 0.0], ..*record },
        }
    });
    Some(Moving { from: from.collect(), to, progress: 0.0 })
}

/// Moves the buildings that are on the way.
pub fn move_buildings(mut listening: ResMut<Listening>, mut shown: ResMut<Shown>, time: Res<Time>) {
    let listening = listening.bypass_change_detection();
    let Some(moving) = &mut listening.moving else { return };
    let Some(city) = shown.bypass_change_detection().0.as_mut() else {
        listening.moving = None;
        return;
    };
    moving.progress += time.delta_secs() / MOVE;
    // A city that took its place in the meantime stands where it stands.
    let done = moving.progress >= 1.0 || city.boxes.records.len() != moving.to.records.len();
    if done {
        if city.boxes.records.len() == moving.to.records.len() {
            city.boxes = moving.to.clone();
        }
        listening.moving = None;
        return;
    }
    let x = moving.progress;
    let eased = x * x * (3.0 - 2.0 * x);
    let mix = |a: [f32; 4], b: [f32; 4]| std::array::from_fn(|i| a[i] + (b[i] - a[i]) * eased);
    let pairs = moving.from.iter().zip(moving.to.records.iter());
    city.boxes = Versioned::new(pairs.map(|(a, b)| BoxRecord { cell: mix(a.cell, b.cell), ..*b }).collect());
}

impl City {
    /// The city of what has come from a source: on the ground there is, when it goes on from what stands there.
    pub fn live(
        of: LiveOf,
        source: Arc<Source>,
        ground: Option<(Arc<memory_city_views::city::CityPlan>, Arc<memory_city_analysis::timeline::Timeline>)>,
        settings: &Settings,
    ) -> City {
        let title = format!("{} (live)", of.name);
        let timeline = Arc::clone(source.timeline());
        let grown = ground
            .filter(|(plan, _)| *plan.config() == settings.city_config())
            .and_then(|(plan, before)| plan.grown(&before, &timeline));
        let mut city = match grown {
            Some(plan) => City::on(title, source, Arc::new(plan), settings),
            None => City::new(title, source, settings),
        };
        city.live = Some(of);
        city
    }
}
