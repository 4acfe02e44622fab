//! Pictures without a window or a display server: the same scene and panels, drawn into an image and saved as PNG.

mod pixels;
mod stage;

use crate::readers::readers_compared;
use crate::viewer::app::headless;
use crate::viewer::city::{self, CameraRig, Shown, WholeView};
use crate::viewer::clock::Clock;
use crate::viewer::comparison::CompareWish;
use crate::viewer::document::{self, Arrival, Document, Draft};
use crate::viewer::frame::Awake;
use crate::viewer::loading;
use crate::viewer::panels::PanelState;
use crate::viewer::picture::{ClearPicture, Picture, no_picture, save};
use crate::viewer::root_paths::SavedPaths;
use crate::viewer::scene::numbers::box_numbers;
use crate::viewer::scene::{SceneInput, city_camera};
use crate::viewer::selection::{MarkNote, Selection};
use crate::viewer::settings::Settings;
use crate::viewer::view::Views;
use crate::viewer::view_file::SeenData;
use crate::viewer::views;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::render::view::Msaa;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole_for;
use memory_city_views::city::camera::{self, CameraPose};
use pixels::{cut_out, read_texture, target_image, target_of};
use stage::{select, stage};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait of a picture for the content of its panels.
const PATIENCE: Duration = Duration::from_secs(20);

/// Camera of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum CameraView {
    /// The whole city from the south.
    Home,
    /// The whole city from above.
    BirdsEye,
    /// The selected building.
    Focus,
    /// An exact pose.
    Pose(CameraPose),
    /// The same as a plan: buildings are flat.
    Plan(CameraPose),
}

/// Description of a picture to render.
#[derive(Clone, Debug)]
pub struct Shot {
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// Pixels of a point, which text and panels are measured in; when `None` as in a window that fills a screen of this height.
    pub scale: Option<f32>,
    /// Index of the point in time; the last when `None`.
    pub time: Option<usize>,
    /// Keys of the selected groups; the references of the first are shown.
    pub select: Vec<String>,
    /// From where.
    pub view: CameraView,
    /// Settings of the picture.
    pub settings: Settings,
    /// With the panels of the window.
    pub panels: bool,
    /// The paths from GC roots to the selection.
    pub paths: bool,
    /// The picture of another view than the city: a name of [`Views::pictures`].
    pub of_view: Option<&'static str>,
    /// The cut, as the analysis `cut` takes it: the memory that it would free is lit.
    pub cut: Option<String>,
    /// Further content.
    pub with: PictureExtras,
}

impl Shot {
    /// The whole city at the last time: nothing is selected, and no panels are over it.
    pub fn of(size: (u32, u32), settings: &Settings) -> Shot {
        Shot {
            size,
            scale: None,
            time: None,
            select: Vec::new(),
            view: CameraView::Home,
            settings: settings.clone(),
            panels: false,
            paths: false,
            of_view: None,
            cut: None,
            with: PictureExtras::default(),
        }
    }
}

/// Content of a picture beside a city and a selection.
#[derive(Clone, Debug, Default)]
pub struct PictureExtras {
    /// Text of the search: matches are lit, the rest recedes.
    pub filter: String,
    /// Marked groups, by key.
    pub marks: BTreeMap<String, MarkNote>,
    /// No background behind the city, and no caption.
    pub transparent: bool,
    /// The input to compare with.
    pub compare: Option<CompareWish>,
    /// RootPaths and a cut as a view file keeps them, in place of those to the selection.
    pub ways: Option<SavedPaths>,
    /// Key facts of the data when its view was saved.
    pub seen: Option<SeenData>,
}

impl PictureExtras {
    /// The parts that concern the data.
    pub fn of_data(&self) -> (Option<&CompareWish>, Option<&SeenData>) {
        (self.compare.as_ref(), self.seen.as_ref())
    }
}

/// A running headless viewer: opens one source, renders any number of pictures of it.
pub struct Studio {
    app: App,
    target: Handle<Image>,
    camera: Entity,
    size: (u32, u32),
    scale: Option<f32>,
    /// Name of the GPU it draws with.
    pub adapter: String,
}

impl Studio {
    /// Starts the renderer. `samples` per pixel: 4 for smooth edges, 1 for speed.
    ///
    /// # Errors
    /// When there is no GPU at all, not even a software one.
    pub fn new(size: (u32, u32), samples: u32) -> Result<Self> {
        // Bevy panics without an adapter; asked first, the answer is an error with a remedy.
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let found = bevy::tasks::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        if let Err(error) = found {
            return Err(Error::Unusable {
                what: format!("No GPU can draw here, not even a software one ({error})"),
                remedy: "Install a Vulkan driver; for one in software: apt-get install libvulkan1 mesa-vulkan-drivers"
                    .into(),
            });
        }
        let mut app = headless();
        app.insert_resource(PanelState { still: true, ..default() });
        app.finish();
        app.cleanup();
        let target = app.world_mut().resource_mut::<Assets<Image>>().add(target_image(size));
        let msaa = if samples > 1 { Msaa::Sample4 } else { Msaa::Off };
        let camera = app.world_mut().spawn((city_camera(msaa), target_of(&target, size, None))).id();
        let adapter = app.world().resource::<RenderAdapterInfo>().name.clone();
        Ok(Studio { app, target, camera, size, scale: None, adapter })
    }

    /// Opens a document.
    pub fn show(&mut self, draft: Draft) {
        let world = self.app.world_mut();
        // What was selected of another document is no news to anybody.
        world.resource_mut::<Selection>().clear();
        world.insert_resource(draft.made_with.clone());
        document::install(world, draft, Arrival::Opened);
    }

    /// The world behind the picture, for tests and benchmarks.
    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Draws one frame, and waits for the GPU to finish it.
    pub fn frame(&mut self) {
        self.app.update();
        let device = self.app.world().resource::<RenderDevice>();
        // A device that is lost shows up in the next frame; there is nothing to do about it here.
        let _ = device.wgpu_device().poll(wgpu::PollType::wait_indefinitely());
    }

    /// Draws one frame and returns its picture: for tests of things on screen for a moment only.
    ///
    /// # Errors
    /// When the GPU gives no picture.
    #[doc(hidden)]
    pub fn frame_picture(&mut self) -> Result<Picture> {
        self.frame();
        self.read_back()
    }

    /// Renders one picture.
    ///
    /// # Errors
    /// When the selected key or time does not exist, or the GPU gives no picture.
    pub fn shoot(&mut self, shot: &Shot) -> Result<Picture> {
        if (self.size, self.scale) != (shot.size, shot.scale) {
            let image = target_image(shot.size);
            let mut images = self.app.world_mut().resource_mut::<Assets<Image>>();
            let _ = images.insert(self.target.id(), image);
            (self.size, self.scale) = (shot.size, shot.scale);
            self.app.world_mut().entity_mut(self.camera).insert(target_of(&self.target, shot.size, shot.scale));
        }
        self.prepare(shot)?;
        // The panels measure themselves in the first frames, in which no city is drawn.
        self.rehearse(4);
        self.settle_view(shot);
        self.rehearse(1);
        self.await_work();
        self.frame();
        self.read_back()
    }

    /// Waits for work that panels have asked for: its results belong into the picture, however busy the machine is.
    fn await_work(&mut self) {
        let begun = Instant::now();
        loop {
            self.app.world_mut().resource_mut::<Awake>().has_waited();
            self.rehearse(1);
            if !self.app.world_mut().resource_mut::<Awake>().has_waited() {
                return;
            }
            if begun.elapsed() > PATIENCE {
                tracing::warn!("the picture does not have all that panels show: that takes more than {PATIENCE:?}");
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Frames of the panels alone: they find out how much room they take. Drawing the city is most of the work of a picture.
    fn rehearse(&mut self, frames: usize) {
        let mut input = self.app.world_mut().resource_mut::<SceneInput>();
        let before = std::mem::replace(&mut input.unseen, true);
        for _ in 0..frames {
            self.app.update();
        }
        self.app.world_mut().resource_mut::<SceneInput>().unseen = before;
    }

    /// Renders a picture without its background: the alpha of a pixel is the share that the city covers. Drawn twice, before black and
    /// before white; the difference gives the alpha.
    ///
    /// # Errors
    /// As [`Studio::shoot`].
    pub fn shoot_clear(&mut self, shot: &Shot) -> Result<ClearPicture> {
        let behind = |studio: &mut Studio, light: f32| {
            city::set_backdrop(studio.app.world_mut(), Some([light; 3]));
            studio.shoot(shot)
        };
        let pictures = behind(self, 0.0).and_then(|black| Ok((black, behind(self, 1.0)?)));
        city::set_backdrop(self.app.world_mut(), None);
        let (black, white) = pictures?;
        Ok(cut_out(&black, &white))
    }

    /// Renders a picture on the way to `time` from the point in time of the last picture or step; `share` of the way, 0 to 1. The
    /// camera stays where it is.
    ///
    /// # Errors
    /// As [`Studio::shoot`].
    pub fn shoot_step(&mut self, shot: &Shot, time: usize, share: f32) -> Result<Picture> {
        let world = self.app.world_mut();
        let began = world.resource::<Clock>().time != time;
        world.resource_mut::<Clock>().hold(time, share);
        if began && !shot.select.is_empty() {
            world.resource_scope(|world, document: Mut<Document>| {
                document.get().map_or(Ok(()), |open| select(world, open, shot, time))
            })?;
        }
        self.rehearse(1);
        self.frame();
        self.read_back()
    }

    /// The box at each pixel of the last picture, row by row: a number of [`City::target_of_box`].
    pub fn box_numbers(&self) -> Vec<Option<u32>> {
        let world = self.app.world();
        let (device, queue) = (world.resource::<RenderDevice>(), world.resource::<RenderQueue>());
        box_numbers(device.wgpu_device(), queue, world.resource::<SceneInput>(), self.size)
    }

    /// Leaves the city out of the following frames, or not any more: to measure the cost of panels and the rest.
    #[doc(hidden)]
    pub fn leave_out(&mut self, out: bool) {
        self.app.world_mut().resource_mut::<SceneInput>().unseen = out;
    }

    /// Whether the last frame waits for something that is worked on.
    #[doc(hidden)]
    pub fn waits(&mut self) -> bool {
        self.app.world_mut().resource_mut::<Awake>().has_waited()
    }

    /// How many boxes the last picture was drawn with.
    pub fn boxes_drawn(&self) -> usize {
        self.app.world().resource::<SceneInput>().plan.drawn()
    }

    /// Content of a view of the document as CSV, set up as for a picture of it. If the shot is of no other view, that of the city.
    ///
    /// # Errors
    /// As [`Studio::shoot`], and when the view has nothing to write.
    pub fn table(&mut self, shot: &Shot) -> Result<Vec<u8>> {
        self.prepare(shot)?;
        self.rehearse(4);
        self.settle_view(shot);
        self.rehearse(1);
        let world = self.app.world();
        world.resource::<Views>().csv_of(world, shot.of_view)
    }

    /// The city as a 3D scene: a binary glTF.
    ///
    /// # Errors
    /// As [`Studio::shoot`].
    pub fn scene(&mut self, shot: &Shot) -> Result<Vec<u8>> {
        self.prepare(shot)?;
        self.rehearse(4);
        city::scene(self.app.world())
    }

    fn prepare(&mut self, shot: &Shot) -> Result<()> {
        let world = self.app.world_mut();
        let of_view = shot.of_view.and_then(|name| world.resource::<Views>().picture(name));
        let mut panels = world.resource_mut::<PanelState>();
        (panels.still, panels.only) = (!shot.panels, of_view.map(|(view, _)| view.id()));
        if let Some((_, picture)) = of_view {
            (picture.set_up)(world);
        }
        world.resource_scope(|world, document: Mut<Document>| {
            document.get().map_or(Ok(()), |open| stage(world, open, shot))
        })
    }

    fn settle_view(&mut self, shot: &Shot) {
        let world = self.app.world_mut();
        let selected = world.resource::<Selection>().node();
        let (lens, time) = (world.resource::<CameraRig>().lens(), world.resource::<Clock>().time);
        let mut shown = world.resource_mut::<Shown>();
        let Some(city) = shown.0.as_mut() else { return };
        let home = camera::home(city.tallest(), &lens);
        let focused = selected.and_then(|node| city.focus_pose(node, time, &home, &lens));
        let pose = match (&shot.view, focused) {
            (CameraView::BirdsEye, _) => camera::birds_eye(city.tallest(), &lens),
            (CameraView::Focus, Some(pose)) => pose,
            (CameraView::Pose(pose) | CameraView::Plan(pose), _) => *pose,
            _ => home,
        };
        let mut rig = world.resource_mut::<CameraRig>();
        rig.jump_to(pose);
        match shot.view {
            CameraView::Home => rig.show_at_once(WholeView::HOME),
            CameraView::BirdsEye => rig.show_at_once(WholeView::Above),
            CameraView::Focus | CameraView::Pose(_) => {}
            CameraView::Plan(_) => rig.lie_flat(true),
        }
    }

    /// Copies the picture of the last frame.
    fn read_back(&mut self) -> Result<Picture> {
        let world = self.app.world();
        let (device, queue) = (world.resource::<RenderDevice>().wgpu_device(), world.resource::<RenderQueue>());
        let drawn = self.app.get_sub_app(RenderApp).map(|app| app.world().resource::<RenderAssets<GpuImage>>());
        let texture = drawn.and_then(|images| images.get(self.target.id())).map(|image| &*image.texture);
        read_texture(device, queue, texture.ok_or_else(|| no_picture("nothing was drawn"))?)
    }
}

/// Opens `paths`, renders one picture and saves it as `output`. Returns the name of the GPU that drew it.
///
/// # Errors
/// Errors of opening, of [`Studio::shoot`], and of writing the file.
pub fn render(paths: &[PathBuf], shot: &Shot, output: &Path, progress: &Progress) -> Result<String> {
    let preparations = views::all().preparations(&shot.settings);
    let draft = loading::open_compared(paths, shot.with.of_data(), &shot.settings, &preparations, progress)?;
    let readers = readers_compared(paths, shot.with.compare.as_ref())?;
    progress.begin("Rendering", 0);
    progress.check()?;
    let mut studio = Studio::new(shot.size, 4)?;
    studio.show(draft);
    progress.check()?;
    if shot.with.transparent {
        let picture = studio.shoot_clear(shot)?;
        progress.check()?;
        save(&picture, output, readers)?;
    } else {
        let picture = studio.shoot(shot)?;
        progress.check()?;
        save(&picture, output, readers)?;
    }
    Ok(studio.adapter.clone())
}

/// Opens `paths` and writes the content of a view of them as CSV, complete or not at all.
///
/// # Errors
/// Errors of opening, of [`Studio::table`], and of writing the file.
pub fn write_table(paths: &[PathBuf], shot: &Shot, output: &Path, progress: &Progress) -> Result<()> {
    write(paths, shot, output, progress, "Writing the table", Studio::table)
}

/// Opens `paths` and writes the city as a 3D scene (binary glTF), complete or not at all.
///
/// # Errors
/// Errors of opening, of [`Studio::scene`], and of writing the file.
pub fn write_scene(paths: &[PathBuf], shot: &Shot, output: &Path, progress: &Progress) -> Result<()> {
    write(paths, shot, output, progress, "Writing the scene", Studio::scene)
}

fn write(
    paths: &[PathBuf],
    shot: &Shot,
    output: &Path,
    progress: &Progress,
    stage: &'static str,
    bytes: impl FnOnce(&mut Studio, &Shot) -> Result<Vec<u8>>,
) -> Result<()> {
    let preparations = views::all().preparations(&shot.settings);
    let draft = loading::open_compared(paths, shot.with.of_data(), &shot.settings, &preparations, progress)?;
    progress.begin(stage, 0);
    progress.check()?;
    let mut studio = Studio::new(shot.size, 1)?;
    studio.show(draft);
    let bytes = bytes(&mut studio, shot)?;
    progress.check()?;
    let readers = readers_compared(paths, shot.with.compare.as_ref())?;
    write_whole_for(output, readers, |mut file| file.write_all(&bytes).map_err(|e| Error::io(output, e)))
}
