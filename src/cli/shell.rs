//! What shells and `man` need to know of the command line: completions and manual pages.

use super::command_line;
use clap::Args;
use clap_complete::Shell;
use memory_city::terminal::print;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::EscapeForm;
use memory_city_heap::unfinished::write_whole;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that they are for
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// The folder for the pages, one for each command
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Prints completions.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "memory-city", &mut text);
    print(EscapeForm::Text, |out| out.write_all(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page for the program, and one for each command.
pub fn man(args: &ManArgs) -> Result<ExitCode> {
    std::fs::create_dir_all(&args.output).map_err(|error| Error::io(&args.output, error))?;
    let mut all = command_line();
    all.build();
    let commands: Vec<clap::Command> = all.get_subcommands().filter(|one| one.get_name() != "help").cloned().collect();
    for command in std::iter::once(all).chain(commands) {
        let page = clap_mangen::Man::new(command);
        let path = args.output.join(page.get_filename());
        let io = |error| Error::io(&path, error);
        let mut text = Vec::new();
        page.render(&mut text).map_err(io)?;
        write_whole(&path, |mut file| file.write_all(&text).map_err(io))?;
    }
    Ok(ExitCode::SUCCESS)
}
