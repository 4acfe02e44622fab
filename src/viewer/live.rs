//! Live documents, which grow while programs run: listens if asked to, shows the trees that come, and reports the selection to the
//! programs.
//!
//! The frame only looks at complete trees ([`Hub::latest`]); a job prepares them for the views. Views keep placed things in their place.
//! A person or a program may ask to place everything anew.
//!
//! Trees of a recording on this machine may be grouped anew: then the document is of the recording's walks, and follows them
//! ([`Source::grown`]). The sent trees still announce each new walk, and wait.

use super::action::Action;
use super::clock::Clock;
use super::document::{self, Arrival, Document, Draft, LiveOf, OpenDocument, Preparations};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::loading::Loading;
use super::notices::Notices;
use super::selection::{Select, Selection};
use super::settings::Settings;
use bevy::prelude::*;
use bevy::winit::{EventLoopProxy, EventLoopProxyWrapper, WinitUserEvent};
use memory_city_analysis::timeline::{ClosureMetric, Source};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_live::{DEFAULT_ADDRESS, Hub, LiveLimits, Server, ServerOptions, Status, Wishes, pass_folder};
use std::sync::Arc;

/// Whether and how to listen.
#[derive(Clone, Debug, Default)]
pub struct ListenOptions {
    /// Limits of clients.
    pub limits: LiveLimits,
    /// Address and permitted clients.
    pub server: ServerOptions,
}

/// The listening hub, and the source that it shows.
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
    /// Sources that a person has closed: shown again when they are chosen.
    put_away: Vec<String>,
    /// The number of the last wish to show a source.
    wanted: u64,
    wishes: Wishes,
    told: Option<(Option<String>, usize)>,
    making: Option<Making>,
    /// Last walk of the recording that was looked at, if it is followed.
    looked: u64,
    /// Whether everything shall be placed anew.
    anew: bool,
}

/// New trees, while views are prepared for them.
struct Making {
    name: String,
    arrival: Arrival,
    revision: u64,
    /// `None` if the recording has no further walk.
    job: Job<Result<Option<Draft>>>,
}

impl Listening {
    /// Begins with the first frame, where options are given.
    pub fn at_once(options: Option<ListenOptions>) -> Self {
        Listening { at_once: options.is_some(), options, ..Listening::default() }
    }

    /// Address at which it listens, with the token that clients need.
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

    /// Address for programs that this window starts: the present one, or else a new one that only they know.
    ///
    /// # Errors
    /// When it cannot listen.
    #[cfg(target_os = "linux")]
    pub(super) fn for_this_window(&mut self, waker: WindowWaker) -> Result<super::recording::LivePlace> {
        let server = match self.server.take() {
            Some(server) => server,
            None => {
                let limits = self.options.as_ref().map(|options| options.limits).unwrap_or_default();
                let server = ServerOptions {
                    address: "127.0.0.1:0".into(),
                    passes: pass_folder(),
                    only_passes: true,
                    ..ServerOptions::default()
                };
                listen(&ListenOptions { limits, server }, waker)?
            }
        };
        let server = self.server.insert(server);
        let (address, token) = (server.address().to_string(), server.token().map(str::to_owned));
        Ok(super::recording::LivePlace { address, token })
    }

    fn hub(&self) -> Option<&Arc<Hub>> {
        self.server.as_ref().map(Server::hub)
    }
}

/// Wakes the window, from any thread: a city at rest draws no frames without it.
#[derive(Clone, Default)]
pub(super) struct WindowWaker(Option<EventLoopProxy<WinitUserEvent>>);

impl WindowWaker {
    /// Of the window, if there is one.
    pub fn of(proxy: Option<&EventLoopProxyWrapper>) -> WindowWaker {
        WindowWaker(proxy.map(|proxy| (**proxy).clone()))
    }

    /// A frame will be drawn.
    pub fn wake(&self) {
        if let Some(proxy) = &self.0 {
            let _ = proxy.send_event(WinitUserEvent::WakeUp);
        }
    }
}

/// Starts to listen.
fn listen(options: &ListenOptions, waker: WindowWaker) -> Result<Server> {
    let hub = Hub::new(options.limits, move || waker.wake());
    Server::start(hub, &options.server)
}

/// Starts and stops listening.
fn switch_listening(
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
        server: ServerOptions { address: DEFAULT_ADDRESS.into(), passes: pass_folder(), ..ServerOptions::default() },
        ..ListenOptions::default()
    });
    match listen(&options, WindowWaker::of(proxy.as_deref())) {
        Ok(server) => {
            notices.tell(format!("Listening on ws://{}: docs/live-protocol.md says what to send", server.address()));
            listening.server = Some(server);
        }
        Err(error) => notices.tell(error.to_string()),
    }
}

/// Shows the trees that have come.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn follow_live(
    mut listening: ResMut<Listening>,
    document: Res<Document>,
    mut clock: ResMut<Clock>,
    mut selection: ResMut<Selection>,
    mut notices: ResMut<Notices>,
    mut actions: MessageReader<Action>,
    mut commands: Commands,
    (settings, preparations, loading): (Res<Settings>, Res<Preparations>, Res<Loading>),
    mut awake: ResMut<Awake>,
) {
    let (mut asked, mut closes) = (false, false);
    for action in actions.read() {
        asked |= *action == Action::ReLayout;
        closes |= *action == Action::Close;
    }
    let listening = &mut *listening;
    let Some(hub) = listening.hub().cloned() else { return };
    // What a person closes stays closed, whatever comes of it.
    let is_live = document.get().is_none_or(|open| open.live.is_some());
    if closes
        && is_live
        && let Some(name) = listening.name.take()
    {
        (listening.told, listening.making, listening.looked) = (None, None, 0);
        listening.put_away.push(name);
    }
    awake.wait_if(listening.making.is_some());
    choose_source(listening, &hub, &document);
    let Some(name) = listening.name.clone() else { return };
    take_wishes(listening, &hub, &name, &document, &mut clock, &mut selection);
    listening.anew |= asked && document.live().is_some();
    let mut shown = document.live().filter(|live| live.name == name).cloned();
    if let Some(outcome) = listening.making.as_ref().and_then(|m| m.job.poll())
        && let Some(Making { name: made_for, arrival, revision, .. }) = listening.making.take()
    {
        match outcome {
            // Another source may have been chosen in the meantime, or another grouping.
            Ok(Ok(Some(draft))) if made_for == name && fits(&draft, &document, arrival) => {
                shown.clone_from(&draft.live);
                document::install_later(&mut commands, draft, arrival);
            }
            Ok(Ok(Some(_))) => {}
            Ok(Ok(None)) => listening.looked = revision,
            Ok(Err(error)) => {
                // Tried again when there is a further walk.
                listening.looked = revision;
                notices.tell(format!("The recording cannot be followed: {error}"));
            }
            Err(panic) => {
                listening.looked = revision;
                notices.tell(panic);
            }
        }
    }
    let latest = hub.latest(&name);
    if let Some(sent) = latest.source.filter(|_| listening.making.is_none()) {
        // What was grouped anew follows its recording, for as long as that is what is sent.
        let followed = document.get().filter(|_| shown.is_some()).filter(|open| follows(open, &sent));
        let had = if followed.is_some() { listening.looked } else { 0 };
        let new = shown.as_ref().is_none_or(|live| live.revision.max(had) < latest.revision);
        // The next one is prepared when views have taken this one: they build on what they show.
        let settled = shown.as_ref() == document.live() || shown.is_none();
        // Another grouping reads all walks that are there; further metrics are found of what is on screen, and would never be.
        let settled = settled && !(followed.is_some() && loading.is_grouping());
        if (new || listening.anew) && settled {
            let anew = std::mem::take(&mut listening.anew);
            let arrival = match shown {
                None => Arrival::Opened,
                Some(_) if anew => Arrival::Anew,
                Some(_) => Arrival::Grew,
            };
            let revision = latest.revision;
            let of = LiveOf { name: name.clone(), revision };
            let (mut settings, preparations) = (settings.clone(), preparations.clone());
            let title = format!("{name} (live)");
            let job = match followed {
                None => {
                    if sent.can_regroup() {
                        // They were grouped as their recorder does; whatever else is set asks for another grouping.
                        let definitions = settings.definitions;
                        settings.take_trees_of(&Settings { definitions, ..Settings::default() });
                    }
                    Job::start(move |_| Ok(Some(Draft::new(title, sent, Some(of), &settings, &preparations, arrival))))
                }
                Some(open) => {
                    settings.take_trees_of(&open.made_with);
                    let before = Arc::clone(&open.source);
                    let timeline = Arc::clone(&open.timeline);
                    let has = |metric: &ClosureMetric| timeline.metric(&metric.info().id).is_some();
                    let metrics: Vec<_> = settings.closures.iter().copied().filter(has).collect();
                    Job::behind_frames(move |progress| {
                        let mut grown = before.grown(progress)?;
                        if let Some(source) = grown.take_if(|_| !metrics.is_empty()) {
                            grown = Some(source.with_closures(&metrics, KeepRules::default(), progress)?);
                        }
                        let source = grown.map(Arc::new).or_else(|| anew.then_some(before));
                        let draft = |source| Draft::new(title, source, Some(of), &settings, &preparations, arrival);
                        Ok(source.map(draft))
                    })
                }
            };
            listening.making = Some(Making { name: name.clone(), arrival, revision, job });
            awake.keep_if(true);
        } else if new || listening.anew {
            awake.keep_if(true);
        }
    }
    if let Some(open) = document.get().filter(|open| open.live.as_ref().is_some_and(|l| l.name == name)) {
        let told = (selection.node().map(|node| open.timeline.key(node)), clock.time);
        if listening.told.as_ref() != Some(&told) {
            // Who sends knows the groups that it sends.
            let is_sent = |key: &String| hub.latest(&name).source.is_some_and(|sent| sent.find(key).is_some());
            let key = told.0.clone().filter(|key| open.source.followed_recording().is_none() || is_sent(key));
            hub.tell(&name, key, told.1);
            listening.told = Some(told);
        }
    }
}

/// Whether a document follows the recording whose trees are sent.
fn follows(open: &OpenDocument, sent: &Source) -> bool {
    open.source.followed_recording().is_some_and(|followed| Some(followed) == sent.sent_recording())
}

/// Whether a draft continues the open document: that may have been grouped anew meanwhile, or be another input.
fn fits(draft: &Draft, document: &Document, arrival: Arrival) -> bool {
    let name = draft.live.as_ref().map(|live| &live.name);
    let open = document.get().filter(|open| open.live.as_ref().map(|live| &live.name) == name);
    match (arrival, open) {
        (Arrival::Opened, _) => true,
        (_, None) => false,
        (_, Some(open)) => match (open.source.followed_recording(), draft.source.followed_recording()) {
            (Some(now), Some(followed)) => now == followed && draft.made_with.has_trees_of(&open.made_with),
            (Some(now), None) => Some(now) != draft.source.sent_recording(),
            (None, Some(_)) => false,
            (None, None) => true,
        },
    }
}

/// Chooses the source to show: one that was clicked, or that a client asked for, or the first when nothing else is open.
fn choose_source(listening: &mut Listening, hub: &Arc<Hub>, document: &Document) {
    let open = document.get();
    let (count, wanted) = hub.wanted();
    let mut next = listening.choose.take();
    if let Some(chosen) = &next {
        listening.put_away.retain(|name| name != chosen);
    }
    if count > listening.wanted {
        listening.wanted = count;
        next = Some(wanted);
    }
    // Another input was opened over it: it is left alone until it is chosen again.
    if listening.making.is_none() && open.is_some_and(|open| open.live.is_none()) && listening.told.is_some() {
        (listening.name, listening.told) = (None, None);
    }
    if next.is_none() && listening.name.is_none() && open.is_none() {
        let is_new = |s: &Status| s.times > 0 && !listening.put_away.contains(&s.name);
        next = hub.status().into_iter().find(is_new).map(|s| s.name);
    }
    if let Some(name) = next.filter(|name| listening.name.as_ref() != Some(name)) {
        listening.wishes = hub.wishes(&name);
        listening.making = None;
        (listening.told, listening.looked) = (None, 0);
        listening.name = Some(name);
    }
}

/// Carries out the wishes of clients.
fn take_wishes(
    listening: &mut Listening,
    hub: &Arc<Hub>,
    name: &str,
    document: &Document,
    clock: &mut Clock,
    selection: &mut ResMut<Selection>,
) {
    let Some(open) = document.get().filter(|open| open.live.as_ref().is_some_and(|l| l.name == *name)) else { return };
    let wishes = hub.wishes(name);
    if wishes.select.0 > listening.wishes.select.0 {
        match &wishes.select.1 {
            None => selection.clear(),
            Some(key) => match open.source.find(key) {
                Some(node) => selection.select(&open.timeline, node),
                // Sent, but of groups that are grouped anew here.
                None if open.source.followed_recording().is_some() => {}
                // It has come, but is not on screen yet.
                None => return,
            },
        }
        listening.told = Some((wishes.select.1.clone(), clock.time));
    }
    if wishes.go.0 > listening.wishes.go.0 {
        // A recording that is followed may have fewer than were sent.
        if wishes.go.1 <= clock.last() {
            clock.step_to(wishes.go.1);
        } else if open.source.followed_recording().is_none() {
            return;
        }
    }
    listening.anew |= wishes.plan > listening.wishes.plan;
    listening.wishes = wishes;
}

/// Listening, and documents that grow.
pub struct LivePlugin;

impl Plugin for LivePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Listening>()
            .add_systems(Update, (switch_listening, follow_live).chain().in_set(Stage::Load));
    }
}
