//! The live server and its clients. One program, so that it is linked once.

mod live;
mod live_python;
mod passes;
