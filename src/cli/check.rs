//! The command `check`, for build pipelines: its exit code says whether anything accumulates or exceeds a limit.

use super::output::{Window, paths_read, refuse_inputs};
use super::{GroupingArgs, refuse, with_progress};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use memory_city::readers::readers_of;
use memory_city::terminal::print;
use memory_city_analysis::analyses::check::{
    CheckFinding, CheckLimits, CheckReport, ExpectedLeak, GrowthLimit, RetainedLimit, check,
};
use memory_city_analysis::analyses::{Finding, TimeWindow};
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::printable::{EscapeForm, line_text};
use memory_city_heap::unfinished::{FileReaders, write_whole_for};
use memory_city_tables::PlacesRequest;
use quick_xml::Writer;
use quick_xml::events::{BytesText, Event};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code when a check fails: neither the program nor its input is at fault.
const FAILED: u8 = 3;
/// Exit code when no check failed, but the input could not be judged.
const UNJUDGED: u8 = 4;

#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 all is well, 3 a check failed, 4 no check failed but the input cannot be judged (no GC roots, cut off, \
    references taken out, most of it unreachable), 1 the input could not be used, 2 wrong arguments.\n\n\
    memory-city check dumps/\n  memory-city check before.hprof after.hprof --max-growth 5% --junit leaks.xml\n  \
    memory-city check after.hprof --max-retained 'com.acme.Session > 50MB'"
)]
pub struct CheckArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Let the heap (all that GC roots keep) grow by so much at most, from the first to the last time: 5%, or 20MB
    #[arg(long, value_name = "AMOUNT")]
    max_growth: Option<GrowthLimit>,
    /// Fail where this holds at the last time; may be given several times. A type or owner and the most that all its objects together may
    /// retain ('com.acme.Session > 50MB', 'com.acme.Cache.entries > 1GB'), or an expression about any group, as for `report --tree
    /// --where` ('retained > 50MB and name ~ "acme"')
    #[arg(long, value_name = "EXPRESSION")]
    max_retained: Vec<RetainedLimit>,
    /// Let leaks pass that this file names: a line for each, with the name that `check` prints, a colon and the reason
    #[arg(long, value_name = "FILE", conflicts_with_all = ["max_growth", "max_retained"])]
    expected: Option<PathBuf>,
    /// Soft references do not keep what they refer to, as if memory were short
    #[arg(long)]
    soft_as_weak: bool,
    /// Let an input pass that cannot be judged (no GC roots, cut off, references taken out, most of it unreachable). Let limits pass
    /// whose names are not there. Without it the check ends with 4
    #[arg(long)]
    allow_incomplete: bool,
    /// Text for people, JSON for programs (docs/report-json.md)
    #[arg(long, value_enum, default_value = "text")]
    format: CheckFormat,
    /// Also write the result as JUnit XML, which build servers show: a test case for each limit, or for each accumulation
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write what owns how much, and what leaks, as a Parquet file of some kilobytes: `memory-city fleet` reads many of them
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with_all = ["max_growth", "max_retained"])]
    places: Option<PathBuf>,
    /// The name of the process in that file: the same in all of its files
    #[arg(long, value_name = "NAME", requires = "places")]
    process: Option<String>,
    /// The version of the program, for that file
    #[arg(long, value_name = "TEXT", requires = "places")]
    app_version: Option<String>,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    grouped: GroupingArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Checks, and prints the results.
pub fn run(args: CheckArgs) -> Result<ExitCode> {
    let limits = CheckLimits {
        growth: args.max_growth,
        retained: args.max_retained,
        expected: args.expected.as_deref().map(ExpectedLeak::read).transpose()?.unwrap_or_default(),
        soft_as_weak: args.soft_as_weak,
        allow_incomplete: args.allow_incomplete,
    };
    let mut inputs = paths_read(&args.paths, None, &args.grouped.asked().grouping);
    inputs.extend(args.expected.clone());
    for (path, option, or_within) in [(&args.junit, "--junit", false), (&args.places, "--places", true)] {
        path.iter().try_for_each(|path| refuse_inputs(&inputs, path, option, or_within))?;
    }
    if args.places.is_some() && args.places == args.junit {
        refuse(ErrorKind::ArgumentConflict, "--places and --junit name the same file");
    }
    let report = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        if source.timeline().times() == 0 {
            let what = "The input has no point in time".to_owned();
            return Err(Error::Unusable { what, remedy: "Give another".into() });
        }
        let window = TimeWindow::of(source.timeline(), args.window.from, args.window.to)?;
        let report = check(&source, window, &limits, progress)?;
        if let (Some(file), Some(verdict)) = (&args.places, &report.verdict) {
            let parts = report.report.iter().flat_map(|report| &report.parts);
            let findings: Vec<Finding> = parts.flat_map(|part| part.findings.found.iter().cloned()).collect();
            let request = PlacesRequest {
                file,
                process: args.process.as_deref().unwrap_or_default(),
                version: args.app_version.as_deref().unwrap_or_default(),
                rules: if args.soft_as_weak { KeepRules::SOFT_AS_WEAK } else { KeepRules::default() },
                readers: readers_of(&args.paths)?,
            };
            memory_city_tables::write_places(&source, window, verdict, &findings, &request, progress)?;
        }
        Ok(report)
    })?;
    // The file is there whatever becomes of the output.
    if let Some(path) = &args.junit {
        write_junit(&report, path, readers_of(&args.paths)?)?;
    }
    match args.format {
        CheckFormat::Text => print(EscapeForm::Text, |out| write_text(&report, out))?,
        CheckFormat::Json => print(EscapeForm::Json, |out| {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        })?,
    }
    Ok(match report.passed {
        true => ExitCode::SUCCESS,
        false if report.is_unjudged() => ExitCode::from(UNJUDGED),
        false => ExitCode::from(FAILED),
    })
}

/// The result for people.
pub(super) fn check_text(report: &CheckReport) -> String {
    let mut text = Vec::new();
    // A vector takes all.
    let _ = write_text(report, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn write_text(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    // The line that the report begins with.
    if let Some(verdict) = report.verdict.as_ref().filter(|verdict| !report.passed && !verdict.is_well()) {
        writeln!(out, "{}", line_text(&verdict.line()))?;
    }
    for finding in &report.checks {
        let result = if finding.passed { "ok  " } else { "FAIL" };
        writeln!(out, "{result}  {}", line_text(&finding.title))?;
        writeln!(out, "      {}", line_text(&finding.message))?;
        finding.details.iter().try_for_each(|line| writeln!(out, "        {}", line_text(line)))?;
    }
    if !report.warnings.is_empty() {
        writeln!(out, "\nWARNINGS")?;
    }
    report.warnings.iter().try_for_each(|warning| writeln!(out, "  {}", line_text(&warning.to_string())))
}

fn write_junit(report: &CheckReport, path: &Path, readers: FileReaders) -> Result<()> {
    let mut xml = Vec::new();
    let io = |error| Error::io(path, error);
    junit(report, &mut xml).map_err(io)?;
    write_whole_for(path, readers, |mut file| file.write_all(&xml).map_err(io))
}

/// The result in the form that Ant's JUnit task writes and build servers read.
fn junit(report: &CheckReport, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    let (tests, failures) = (report.checks.len(), report.checks.iter().filter(|finding| !finding.passed).count());
    let counts = [("tests", tests.to_string()), ("failures", failures.to_string()), ("errors", "0".to_owned())];
    let counts = || counts.iter().map(|(name, count)| (*name, &**count));
    writer.create_element("testsuites").with_attributes(counts()).write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attribute(("name", "memory-city check"));
        suite
            .with_attributes(counts())
            .write_inner_content(|writer| report.checks.iter().try_for_each(|finding| test_case(finding, writer)))?;
        Ok(())
    })?;
    writer.get_mut().push(b'\n');
    Ok(())
}

fn test_case(finding: &CheckFinding, writer: &mut Writer<&mut Vec<u8>>) -> io::Result<()> {
    let title = xml_text(&finding.title);
    let class_name = format!("memory-city.{}", finding.id);
    let case = writer.create_element("testcase").with_attribute(("classname", &*class_name));
    let case = case.with_attribute(("name", &*title));
    let lines = std::iter::once(&finding.message).chain(&finding.details);
    let text = lines.map(|line| xml_text(line)).collect::<Vec<_>>().join("\n");
    case.write_inner_content(|writer| {
        let event = Event::Text(BytesText::new(&text));
        let inner = match finding.passed {
            true => writer.create_element("system-out"),
            false => {
                let message = xml_text(&finding.message);
                writer
                    .create_element("failure")
                    .with_attribute(("type", finding.id))
                    .with_attribute(("message", &*message))
            }
        };
        inner.write_inner_content(|writer| writer.write_event(event))?;
        Ok(())
    })?;
    Ok(())
}

/// A line. Names of classes come from strangers, and XML has no form for most control characters, nor for two more.
fn xml_text(text: &str) -> String {
    line_text(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_xml_stands_whatever_names_there_are() {
        let finding = |passed, message: &str| CheckFinding {
            id: "max-retained",
            title: "Nothing with List<int> > 5 & \"more\"".into(),
            passed,
            message: message.into(),
            details: vec!["3 in a.B.all › x\u{0}y".into()],
            bytes: Some(7),
        };
        let report = CheckReport {
            version: 2,
            passed: false,
            from: 1,
            to: 1,
            warnings: Vec::new(),
            verdict: None,
            checks: vec![finding(true, "small"), finding(false, "<large> ]]>")],
            report: None,
        };
        let mut xml = Vec::new();
        junit(&report, &mut xml).expect("it is written");
        insta::assert_snapshot!(String::from_utf8(xml).expect("text"), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites tests="2" failures="1" errors="0">
          <testsuite name="memory-city check" tests="2" failures="1" errors="0">
            <testcase classname="memory-city.max-retained" name="Nothing with List&lt;int&gt; &gt; 5 &amp; &quot;more&quot;">
              <system-out>small
        3 in a.B.all › x\u{0}y</system-out>
            </testcase>
            <testcase classname="memory-city.max-retained" name="Nothing with List&lt;int&gt; &gt; 5 &amp; &quot;more&quot;">
              <failure type="max-retained" message="&lt;large&gt; ]]&gt;">&lt;large&gt; ]]&gt;
        3 in a.B.all › x\u{0}y</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
