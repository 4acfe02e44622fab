//! The command line: parses arguments, wires the library, reports errors. Nothing else happens here.
//!
//! Exit codes: 0 done, 1 the input or machine could not be used, 2 the command line is wrong, 130 cancelled.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
