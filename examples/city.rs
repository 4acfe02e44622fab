//! A window that shows only the city of a dump, a recording or a trace.
//!
//! `cargo run --release --example city -- FILE` opens it. The camera, the selection and the keys are those of the application; there are
//! no other views and no panels.

use bevy::prelude::AppExit;
use memory_city::viewer::app::window;
use memory_city::viewer::loading::OpenRequest;
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::view::Views;
use memory_city::viewer::views;
use memory_city::viewer::window::WindowSize;
use std::path::PathBuf;

fn main() -> AppExit {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut app = window(Views(vec![views::CITY]), WindowSize(None));
    app.insert_resource(PanelState { visible: false, ..PanelState::default() });
    app.world_mut().write_message(OpenRequest(files));
    app.run()
}
