//! The commands of the command line, and the arguments that they share. Each command is a file of its own below.

mod analyse;
mod check;
mod compare;
mod convert;
mod ended;
mod fleet;
mod grouping;
mod interrupt;
mod live;
mod mcp;
mod output;
mod page;
#[cfg(feature = "viewer")]
mod picture;
#[cfg(target_os = "linux")]
mod recorder;
#[cfg(feature = "viewer")]
mod render;
mod report;
mod scripts;
mod shape;
mod shell;
mod structures;

use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use memory_city::allocator;
use memory_city::saved_view::ViewReach;
use memory_city::terminal;
use memory_city_analysis::group::{AskedGrouping, GroupOptions, registry};
use memory_city_analysis::lives::BY_AGE_TYPE_AND_SITE;
use memory_city_analysis::table::parse_bytes;
use memory_city_analysis::timeline::{AUTO, AskedObjects, ComparedTimes, Question};
use memory_city_formats::set_memory_limit;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::{cell_text, line_text};
use memory_city_heap::progress::Progress;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Parser)]
#[command(
    name = "memory-city",
    version,
    about = "The heap of your program as a city: what leaks grows tall and red",
    long_about = "Memory City opens heap dumps (HPROF: what every JVM and Android writes), a memory trace (AntTracks), or memory \
        trees that any other program wrote as JSON (docs/memory-tree-json.md), and shows how the heap evolves as a 3D city: groups of objects are buildings, packages or types are districts, and from state to state the \
        leak grows and turns red.\n\n\
        Recordings (`record`, `attach`, `watch`, .mcity) open like dumps. Without a command it opens a window with the start screen: your dumps, a running program, or the sample.",
    after_help = "Take dumps of a running JVM, a while apart:\n  jcmd PID GC.heap_dump -gz=1 /tmp/dumps/1.hprof.gz\n\n\
        Then look at them, or let a script do it:\n  memory-city open /tmp/dumps\n  memory-city report /tmp/dumps\n  memory-city report /tmp/dumps --tree --where 'bytes > 1MB and growth > 20%'\n  memory-city render /tmp/dumps -o city.png --select 'char[]'\n  memory-city convert /tmp/dumps -o city.json.zst\n  memory-city check /tmp/dumps --max-growth 5%\n\n\
        Exit codes: 0 done, 1 the input or this machine could not be used, 2 wrong arguments, 3 a check failed, 4 the input of a check cannot be judged, 130 cancelled (143 by SIGTERM). `record` has the program's own; `attach` and `watch` end well when they are told to end.\n\
        Log lines go to stderr; RUST_LOG=info shows more of them.",
    subcommand_required = false,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Whether programs are listened for from the start.
    fn listens(&self) -> bool {
        match &self.command {
            Some(Command::Serve(_)) => true,
            #[cfg(feature = "viewer")]
            Some(Command::Open(args)) => args.listen.is_some(),
            _ => false,
        }
    }

    /// Whether it takes walk after walk: memory of each goes back to the system, to spare the recorded program.
    fn records(&self) -> bool {
        #[cfg(target_os = "linux")]
        return matches!(&self.command, Some(Command::Record(_) | Command::Attach(_)));
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether frame after frame is drawn.
    fn draws(&self) -> bool {
        match &self.command {
            #[cfg(feature = "viewer")]
            None | Some(Command::Open(_)) => true,
            #[cfg(feature = "viewer")]
            Some(Command::Render(args)) => args.film,
            _ => false,
        }
    }

    /// Whether it draws one picture: most of its memory is the data that it reads.
    fn draws_once(&self) -> bool {
        #[cfg(feature = "viewer")]
        return matches!(&self.command, Some(Command::Render(args)) if !args.film);
        #[cfg(not(feature = "viewer"))]
        false
    }
}

#[derive(Subcommand)]
enum Command {
    /// Open heap dumps, a trace, a recording or memory trees in a window (without PATH the start screen)
    #[cfg(feature = "viewer")]
    Open(picture::OpenArgs),
    /// Render a picture of the city as PNG, without window or display
    #[cfg(feature = "viewer")]
    Render(render::RenderArgs),
    /// Print how the heap grew, which groups grew most, and what refers to them
    Report(report::ReportArgs),
    /// Run one analysis: growth, garbage collections, ...; --list explains them
    #[command(visible_alias = "analyze")]
    Analyse(analyse::AnalyseArgs),
    /// Suggest descriptions of the data structures of a program, or check a file of them
    Structures(structures::StructuresArgs),
    /// Compare two runs, before and after a fix: what is alive and what died, group by group
    Compare(compare::CompareArgs),
    /// Check for a build pipeline that nothing accumulates, or that limits are kept: exit code 3 when not
    Check(check::CheckArgs),
    /// Tell what leaks in which of many processes, from the files that `check --places` wrote
    Fleet(fleet::FleetArgs),
    /// Write the trees over time, and what refers to what, as JSON: for other tools, or to open without the dumps
    Convert(convert::ConvertArgs),
    /// Write the city as one HTML file that any browser shows: to send to others
    Page(page::PageArgs),
    /// Take memory trees from running programs over a WebSocket, without a window
    Serve(live::ServeArgs),
    /// Answer an assistant (Model Context Protocol) over standard input and output
    Mcp(mcp::McpArgs),
    /// Send what can be opened to a city that listens (`serve`, or `open --listen`)
    Push(live::PushArgs),
    /// Start a Java program and record where it allocates what stays: command behind --
    #[cfg(target_os = "linux")]
    Record(recorder::record::RecordArgs),
    /// Record a Java program that runs, and leave it as it was
    #[cfg(target_os = "linux")]
    Attach(recorder::attach::AttachArgs),
    /// Watch a Java program that runs by class histograms, without loading anything into it
    #[cfg(target_os = "linux")]
    Watch(recorder::watch::WatchArgs),
    /// List the Java programs that run
    #[cfg(target_os = "linux")]
    Jvms(recorder::jvms::JvmsArgs),
    /// Add what an interrupted recording left beside it, and remove what is incomplete
    #[cfg(target_os = "linux")]
    Finish(recorder::finish::FinishArgs),
    /// Print completions for a shell: bash, zsh, fish, ...
    Completions(shell::CompletionsArgs),
    /// Write manual pages, one for each command
    Man(shell::ManArgs),
}

#[derive(Args)]
struct GroupingArgs {
    /// How objects are grouped: a name (one that you saved, too), or a list of classifiers such as 'package>type'
    #[arg(long, visible_alias = "group-by", value_name = "NAME|LIST", default_value = AUTO, value_parser = grouping::grouping, long_help = grouping::help())]
    grouping: AskedGrouping,
    /// Dead objects instead of live ones, by age at death, type and site, or by --grouping
    ///
    /// Everything freed up to each point in time. Needs a trace, or a recording with samples.
    #[arg(long)]
    churn: bool,
    /// Objects born, dead and surviving from the first point in time to the last, or from 3 to 8 (--difference=3-8)
    #[arg(long, value_name = "FROM-TO", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "churn")]
    difference: Option<ComparedTimes>,
    /// A classifier or filter of your own: a script (docs/groupings.md), known by the name of its file; may be given several times
    #[arg(long, value_name = "FILE")]
    classifier: Vec<std::path::PathBuf>,
    /// Descriptions of your data structures (docs/structures.md), for the elements of collections in findings, `analyse structures`, and
    /// the groupings by structure, role and contained-in; may be given several times
    #[arg(long, value_name = "FILE")]
    structures: Vec<std::path::PathBuf>,
    /// The program's own packages, for the closest domain call site; `analyse packages` shows which are guessed
    #[arg(long, value_name = "PACKAGE,...")]
    packages: Option<String>,
    /// Count objects that no GC root reaches too
    #[arg(long)]
    unreachable: bool,
    /// Traces: show the heap at the start of every GC as well as at its end
    #[arg(long)]
    gc_starts: bool,
    /// Memory that this may take: 500MB, 4GB, ... [default: what is free]
    ///
    /// Dumps are read at once as far as they fit. What needs more is refused with the amount. Mapped files do not count.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
}

/// How far view files may reach.
#[derive(Args, Clone, Copy)]
struct ReachArgs {
    /// Of a view file: read also what it names outside its own folder. Say so only where you trust who made it
    #[arg(long)]
    allow_outside: bool,
}

impl ReachArgs {
    fn of_views(self) -> ViewReach {
        if self.allow_outside { ViewReach::Anywhere } else { ViewReach::OwnFolder }
    }
}

fn memory(text: &str) -> std::result::Result<u64, String> {
    match parse_bytes(text) {
        Some(bytes @ 1..) => Ok(bytes),
        _ => Err("that is no amount of memory: write 500MB or 4GB".to_owned()),
    }
}

/// A bound as people write it: 500MB, 2GB; a number alone counts megabytes, of a million bytes each as everywhere.
fn size(text: &str) -> std::result::Result<u64, String> {
    let bytes = match text.parse::<u64>() {
        Ok(megabytes) => megabytes.checked_mul(MEGABYTE),
        Err(_) => parse_bytes(text),
    };
    match bytes {
        Some(bytes @ MEGABYTE..=MOST_SIZE) => Ok(bytes),
        _ => Err("that is no size from 1 MB to 1,000 TB: write 500MB or 2GB".to_owned()),
    }
}

/// Bytes.
const MEGABYTE: u64 = 1_000_000;
/// Bytes.
const MOST_SIZE: u64 = 1_000_000_000 * MEGABYTE;

/// A size as [`size`] reads it, rounded up.
fn size_text(bytes: u64) -> String {
    format!("{}MB", bytes.div_ceil(MEGABYTE))
}

impl GroupingArgs {
    /// The question: live objects, dead ones or those of two times, in these groups.
    fn asked(&self) -> Question {
        let objects = AskedObjects { died: self.churn, difference: self.difference };
        let grouping = match self.churn && self.grouping.is_auto() {
            true => registry().asked(BY_AGE_TYPE_AND_SITE).unwrap_or_default(),
            false => self.grouping.clone(),
        };
        Question { objects, grouping }
    }

    /// Options for grouping. The classifiers, descriptions and packages were taken before the command line was read; the budget is taken now.
    fn options(&self) -> GroupOptions {
        if let Some(bytes) = self.memory {
            set_memory_limit(bytes);
        }
        GroupOptions { include_unreachable: self.unreachable, gc_starts: self.gc_starts }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    // Classifiers of people's own come first: what the command line says of groupings may be about them.
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let warnings = match scripts::before_parsing(&arguments) {
        Ok(warnings) => warnings,
        Err(wrong) => {
            // The usage that is shown is that of the command that is meant.
            let mut all = Cli::command();
            all.build();
            let meant = arguments.first().and_then(|name| all.find_subcommand(name).cloned());
            terminal::exit_with(meant.unwrap_or(all).error(clap::error::ErrorKind::ValueValidation, line_text(&wrong)))
        }
    };
    let cli = command_line().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = cli.unwrap_or_else(|error| terminal::exit_with(error));
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        // Drivers and windowing libraries grumble about things a user cannot act on: winit of a display without a size in millimetres, and
        // of one where no desktop keeps settings.
        tracing_subscriber::EnvFilter::new(
            "warn,wgpu_hal=off,bevy_render=error,wgpu_core=error,naga=error,bevy_winit=error,winit=error,bevy_egui=error",
        )
    });
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_target(false);
    // Colours would be control characters like those of others.
    log.with_ansi(false).with_writer(|| terminal::LogLines).init();
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    if cli.listens() || cli.records() || cli.draws_once() {
        allocator::give_back_at_once();
    } else if cli.draws() {
        allocator::keep_for_next_frame();
    }
    interrupt::listen();
    ended::say_why();
    match run(cli) {
        Ok(code) => code,
        Err(Error::Cancelled) => interrupt::code(),
        Err(error) => {
            terminal::error(&error);
            ExitCode::from(1)
        }
    }
}

/// Options that few need: the help of a command leaves them out, so that it fits a screen. `help COMMAND` has all.
const FEW_NEED: [&str; 38] = [
    "align",
    "allow_outside",
    "app_version",
    "area",
    "at",
    "base",
    "between",
    "child_count",
    "classifier",
    "colour_metric",
    "cut",
    "fold_libraries",
    "gc_starts",
    "height_metric",
    "height_scale",
    "multiples",
    "name_size",
    "names",
    "no_cap",
    "no_colour",
    "no_labels",
    "no_pointers",
    "no_shadows",
    "opacity",
    "packages",
    "palette",
    "process",
    "raw_csv",
    "reference_count",
    "references",
    "soft_as_weak",
    "solid",
    "structures",
    "table",
    "times",
    "transparent",
    "unreachable",
    "window",
];

/// The command line. `--help` of a command is as short as `-h`.
fn command_line() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        let few_need = |arg: &Arg| FEW_NEED.contains(&arg.get_id().as_str());
        let hidden = command.get_arguments().filter(|arg| few_need(arg)).count();
        let footer = command.get_after_help().map(ToString::to_string);
        let more = (hidden > 0).then(|| format!("{hidden} more options: memory-city help {}", command.get_name()));
        let short: Vec<String> = footer.iter().cloned().chain(more).collect();
        let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("Print this help");
        let command = command.disable_help_flag(true).arg(help);
        let command = command.after_help(short.join("\n\n")).after_long_help(footer.unwrap_or_default());
        command.mut_args(|arg| if few_need(&arg) { arg.hide_short_help(true) } else { arg })
    })
}

/// Ends the program: the command line is wrong.
fn refuse(kind: clap::error::ErrorKind, why: impl std::fmt::Display) -> ! {
    terminal::exit_with(Cli::command().error(kind, line_text(&why.to_string())))
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Some(Command::Report(args)) => report::report(args),
        Some(Command::Analyse(args)) => analyse::analyse(args),
        Some(Command::Compare(args)) => compare::compare(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Structures(args)) => structures::structures(args),
        Some(Command::Fleet(args)) => fleet::run(args),
        Some(Command::Convert(args)) => convert::convert(args),
        Some(Command::Page(args)) => page::page(args),
        Some(Command::Serve(args)) => live::serve(&args),
        Some(Command::Mcp(args)) => mcp::run(args),
        Some(Command::Push(args)) => live::push(args),
        Some(Command::Completions(args)) => shell::completions(&args),
        Some(Command::Man(args)) => shell::man(&args),
        #[cfg(target_os = "linux")]
        Some(Command::Record(args)) => recorder::record::record(args),
        #[cfg(target_os = "linux")]
        Some(Command::Attach(args)) => recorder::attach::attach(args),
        #[cfg(target_os = "linux")]
        Some(Command::Watch(args)) => recorder::watch::watch(&args),
        #[cfg(target_os = "linux")]
        Some(Command::Jvms(args)) => recorder::jvms::jvms(&args),
        #[cfg(target_os = "linux")]
        Some(Command::Finish(args)) => recorder::finish::finish(&args),
        #[cfg(feature = "viewer")]
        Some(Command::Render(args)) => render::render(args),
        #[cfg(feature = "viewer")]
        Some(Command::Open(args)) => picture::open(args),
        #[cfg(feature = "viewer")]
        None => picture::open_sample(),
        #[cfg(not(feature = "viewer"))]
        None => Err(Error::Unusable {
            what: "This build has no viewer".into(),
            remedy: "Use `memory-city report PATH`, or build with the feature `viewer`".into(),
        }),
    }
}

/// Runs `work` with a progress line on a terminal. Ctrl+C cancels it: nothing is half written.
fn with_progress<T>(work: impl FnOnce(&Progress) -> Result<T>) -> Result<T> {
    let progress = Progress::new();
    let done = Arc::new(AtomicBool::new(false));
    let watcher = std::io::stderr().is_terminal().then(|| {
        let (progress, done) = (progress.clone(), Arc::clone(&done));
        std::thread::spawn(move || watch(&progress, &done))
    });
    progress.lead_to(1.0);
    let result = interrupt::cancels(&progress, || work(&progress));
    done.store(true, Ordering::Relaxed);
    if let Some(watcher) = watcher {
        let _ = watcher.join();
    }
    result
}

fn watch(progress: &Progress, done: &AtomicBool) {
    let bar = indicatif::ProgressBar::new(0);
    let style = indicatif::ProgressStyle::with_template("{spinner} {msg} {wide_bar} {percent}%");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    while !done.load(Ordering::Relaxed) {
        let lines = progress.take_lines();
        if !lines.is_empty() {
            bar.suspend(|| lines.iter().for_each(terminal::note));
        }
        let snapshot = progress.snapshot();
        bar.set_length(snapshot.total.max(1));
        bar.set_position(snapshot.done.min(snapshot.total));
        // The stage names files.
        bar.set_message(cell_text(&snapshot.stage));
        std::thread::sleep(Duration::from_millis(80));
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::{Cli, FEW_NEED, command_line};
    use clap::error::ErrorKind;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    /// In 100 columns.
    #[test]
    fn the_help_of_each_command_fits_a_screen() {
        let mut all = command_line();
        all.build();
        let mut hidden: Vec<String> = Vec::new();
        for command in all.get_subcommands_mut() {
            let short = command.render_help().to_string();
            let lines = short.lines().count();
            assert!(lines <= 50, "{}: {lines} lines\n{short}", command.get_name());
            let left_out = command.get_arguments().filter(|arg| arg.is_hide_short_help_set());
            hidden.extend(left_out.map(|arg| arg.get_id().as_str().to_owned()));
        }
        // Without the viewer there are fewer options.
        let unknown: Vec<_> = FEW_NEED.iter().filter(|id| !hidden.iter().any(|arg| arg == *id)).collect();
        assert!(!cfg!(feature = "viewer") || unknown.is_empty(), "{unknown:?}");
    }

    /// Every command in README.md, docs/ and the samples is one that this program takes.
    #[test]
    fn commands_on_the_pages_are_taken() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = |folder: &str| std::fs::read_dir(root.join(folder)).expect("a folder");
        let samples = files("sample-data").map(|entry| entry.expect("one").path().join("README.md"));
        let pages = files("docs").map(|entry| entry.expect("one").path()).chain(samples.filter(|page| page.exists()));
        let known: Vec<String> =
            Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let mut tried = 0;
        for page in pages.chain([root.join("README.md")]).filter(|page| page.extension().is_some_and(|e| e == "md")) {
            let text = std::fs::read_to_string(&page).expect("a page");
            let blocks = text.split("```").skip(1).step_by(2);
            for line in blocks.flat_map(str::lines).filter(|line| line.starts_with("memory-city ")) {
                // What follows a pipe or goes into a file is the shell's; so are comments.
                let words = shlex::Shlex::new(line).take_while(|word| !["|", ">", "&&", ";", "&"].contains(&&**word));
                let words: Vec<String> =
                    words.map(|word| if word == "PID" { "4711".to_owned() } else { word }).collect();
                // Without the viewer there are fewer commands; a script of one's own is read before the command line is.
                let is_known = words[1] == "help" || known.contains(&words[1]) || words[1] == "analyze";
                if !is_known && !cfg!(feature = "viewer") || words.iter().any(|word| word == "--classifier") {
                    continue;
                }
                let told = Cli::try_parse_from(&words).err().map(|error| (error.kind(), error.to_string()));
                if let Some((kind, error)) = told {
                    let is_help = matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
                    assert!(is_help, "{}: {line}\n{error}", page.display());
                }
                tried += 1;
            }
        }
        assert!(tried > 40, "{tried} commands");
    }

    // Without the viewer there are fewer commands.
    #[cfg(feature = "viewer")]
    #[test]
    fn the_help_teaches() {
        insta::assert_snapshot!(Cli::command().render_long_help().to_string());
    }
}
