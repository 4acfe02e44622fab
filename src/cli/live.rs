//! Commands that listen and send: `serve`, `push`, and how `open` listens.

use super::{GroupingArgs, interrupt, size, with_progress};
use clap::Args;
use memory_city::terminal;
use memory_city_analysis::timeline::{Source, title_of};
use memory_city_heap::error::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub struct ServeArgs {
    #[command(flatten)]
    listen: Listen,
}

/// How to listen for programs that send their trees.
#[derive(Args, Clone)]
pub struct Listen {
    /// Address to listen at, HOST:PORT. Beyond this machine clients need a token
    #[arg(long = "listen", value_name = "ADDR", default_value = memory_city_live::DEFAULT_ADDRESS)]
    address: String,
    #[command(flatten)]
    rules: ListenRules,
}

#[derive(Args, Clone)]
pub struct ListenRules {
    /// A file with the token that clients must know (default: made up and printed, when needed)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Accept only recordings of this user: for windows that these open
    #[arg(long, hide = true, conflicts_with = "token_file")]
    only_recordings: bool,
    /// A web page that may connect, as browsers name it: https://example.org
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// The largest message: 64MB, ...; a number alone counts MB [default: 64 MiB]
    #[arg(long, value_name = "SIZE", value_parser = message_size)]
    max_message: Option<u64>,
    /// Memory for all sources together: 500MB, 2GB, ...; a number alone counts MB [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
}

impl ListenRules {
    pub fn limits(&self) -> memory_city_live::LiveLimits {
        let default = memory_city_live::LiveLimits::default();
        memory_city_live::LiveLimits {
            message_bytes: self
                .max_message
                .map_or(default.message_bytes, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            memory_bytes: self.max_memory.unwrap_or(default.memory_bytes),
            ..default
        }
    }

    pub fn options(&self, address: &str) -> Result<memory_city_live::ServerOptions> {
        let token = self.token_file.as_deref().map(token).transpose()?;
        Ok(memory_city_live::ServerOptions {
            address: address.to_owned(),
            token,
            passes: memory_city_live::pass_folder(),
            only_passes: self.only_recordings,
            origins: self.allow_origin.clone(),
        })
    }
}

/// A message is in memory as a whole.
fn message_size(text: &str) -> std::result::Result<u64, String> {
    match size(text)? {
        bytes @ ..=MOST_MESSAGE => Ok(bytes),
        _ => Err("a message has 4GiB at most".to_owned()),
    }
}

/// Bytes.
const MOST_MESSAGE: u64 = 4 << 30;

/// The token in a file.
fn token(file: &std::path::Path) -> Result<String> {
    let text = std::fs::read_to_string(file).map_err(|e| Error::io(file, e))?;
    match text.trim() {
        "" => Err(Error::Unusable {
            what: format!("{} has no token", file.display()),
            remedy: "Write a long random text into it, such as `openssl rand -hex 16` gives".into(),
        }),
        token => Ok(token.to_owned()),
    }
}

#[derive(Args)]
pub struct PushArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Address of the city, HOST:PORT
    #[arg(long, value_name = "ADDR", default_value = memory_city_live::DEFAULT_ADDRESS)]
    to: String,
    /// Name of the source there (default: the name of the input)
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// A file with the token the server wants
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Append to what the source has there, instead of beginning anew
    #[arg(long)]
    append: bool,
    /// Leave out what refers to what
    #[arg(long)]
    no_references: bool,
    #[command(flatten)]
    grouped: GroupingArgs,
}

/// Listens until the program is ended.
pub fn serve(args: &ServeArgs) -> Result<ExitCode> {
    let listen = &args.listen;
    let hub = memory_city_live::Hub::new(listen.rules.limits(), || ());
    let server = memory_city_live::Server::start(hub, &listen.rules.options(&listen.address)?)?;
    terminal::result(format_args!("Listening on ws://{}", server.address()));
    if let Some(token) = server.token().filter(|_| listen.rules.token_file.is_none()) {
        terminal::result(format_args!("Token: {token}"));
    }
    let mut before = Vec::new();
    loop {
        if let Err(cancelled) = interrupt::wait(Duration::from_millis(500)) {
            // Clients are told, which takes a turn of their threads.
            drop(server);
            std::thread::sleep(Duration::from_millis(200));
            return Err(cancelled);
        }
        let now = server.hub().status();
        for source in now.iter().filter(|s| !before.contains(*s)) {
            let (times, groups, clients) = (source.times, source.groups, source.clients);
            terminal::status(format_args!("{}: {times} times, {groups} groups, {clients} clients", source.name));
        }
        before = now;
    }
}

/// Sends an input to a listening city.
pub fn push(args: PushArgs) -> Result<ExitCode> {
    let options = memory_city_live::PushOptions {
        address: args.to,
        source: args.source.unwrap_or_else(|| title_of(&args.paths)),
        token: args.token_file.as_deref().map(token).transpose()?,
        references: !args.no_references,
        append: args.append,
        ..memory_city_live::PushOptions::default()
    };
    let pushed = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        memory_city_live::push(&source, &options, progress)
    })?;
    pushed.warnings.iter().for_each(terminal::warning);
    terminal::result(format_args!("{} times sent to {} as {}", pushed.times, options.address, options.source));
    Ok(ExitCode::SUCCESS)
}
