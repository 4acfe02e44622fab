//! The program as people use it: command line, recorder, pages, pictures, windows. One program, so that it is linked once.

mod book;
mod bounded;
mod command_line;
mod command_line_analyses;
mod command_line_check;
mod command_line_churn;
mod command_line_convert;
mod command_line_series;
mod detail;
mod hostile_names;
mod leaks;
mod live_memory;
mod live_view;
mod mcp;
mod page;
mod recorder;
mod render;
mod strangers;
mod tables;
mod window;
mod workspace;
