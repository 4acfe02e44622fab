//! The command `analyse`: one analysis, with its parameters; `analyse --list` explains all of them.

use super::output::{OutputArgs, OutputFormat, Window};
use super::{GroupingArgs, refuse, with_progress};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use memory_city::terminal::print;
use memory_city_analysis::analyses::{AnalysisRegistry, Arguments, Description, TimeWindow, report};
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::EscapeForm;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct AnalyseArgs {
    /// Explain all analyses and their parameters
    #[arg(long)]
    list: bool,
    /// Which analysis
    #[arg(value_name = "ID", required_unless_present = "list", value_parser = ids())]
    id: Option<String>,
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(value_name = "PATH", required_unless_present = "list")]
    pub(super) paths: Vec<PathBuf>,
    /// Set a parameter of the analysis; may be given several times
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", value_parser = assignment)]
    parameter: Vec<(String, String)>,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    grouped: GroupingArgs,
}

fn ids() -> PossibleValuesParser {
    let value = |d: Description| PossibleValue::new(d.id).help(d.explanation);
    PossibleValuesParser::new(AnalysisRegistry::built_in().iter().map(|a| value(a.describe())).collect::<Vec<_>>())
}

fn assignment(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as top=20")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Runs it, or lists all of them.
pub fn analyse(args: AnalyseArgs) -> Result<ExitCode> {
    args.output.check();
    let registry = AnalysisRegistry::built_in();
    let Some(id) = args.id.as_deref().filter(|_| !args.list) else {
        list(&registry, args.output.format)?;
        return Ok(ExitCode::SUCCESS);
    };
    let analysis = registry.get(id)?;
    let description = analysis.describe();
    let all = args.output.all_rows(&description);
    let all = all.iter().map(|(name, value)| (*name, &**value));
    let given: Vec<(&str, &str)> = all.chain(args.parameter.iter().map(|(name, value)| (&**name, &**value))).collect();
    // A wrong parameter is told before a large dump is read.
    if let Err(error) = Arguments::parse(&description, given.iter().copied()) {
        refuse(ErrorKind::ValueValidation, error);
    }
    let mut report = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        let window = TimeWindow::of(source.timeline(), args.window.from, args.window.to)?;
        report::analyse(&analysis, &source, window, given.iter().copied(), progress)
    })?;
    let top = args.parameter.iter().rfind(|(name, _)| name == "top").and_then(|(_, value)| value.trim().parse().ok());
    report.text_rows = args.output.text_rows(top);
    let main = report.tables().next().map(|table| table.header.id.clone()).unwrap_or_default();
    args.output.print(&report, &main)?;
    Ok(ExitCode::SUCCESS)
}

fn list(registry: &AnalysisRegistry, format: OutputFormat) -> Result<()> {
    let all: Vec<Description> = registry.iter().map(|analysis| analysis.describe()).collect();
    match format {
        OutputFormat::Text => {
            print(EscapeForm::Text, |out| all.iter().try_for_each(|description| explain(description, out)))
        }
        OutputFormat::Json => print(EscapeForm::Json, |out| {
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)
        }),
        OutputFormat::Csv => Err(Error::Unusable {
            what: "The list of analyses is no table: it has no CSV form".into(),
            remedy: "Use --format text or json".into(),
        }),
    }
}

fn explain(description: &Description, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", description.id, description.title)?;
    writeln!(out, "  {}", description.explanation)?;
    if !description.needs.is_empty() {
        let needs: Vec<&str> = description.needs.iter().map(|need| need.text()).collect();
        writeln!(out, "  Needs {}.", needs.join(", "))?;
    }
    for parameter in &description.parameters {
        let (kind, default) = (parameter.kind.text(), parameter.kind.default_text());
        writeln!(out, "  -p {}={default}", parameter.id)?;
        writeln!(out, "      {}: {kind}", parameter.explanation)?;
    }
    writeln!(out)
}
