//! Options of a JVM that matter to a recorder. A run that writes an archive of its classes (CDS, AOT cache) cannot have one in it. The VM lets
//! one agent alone sample allocations.

use memory_city_heap::error::Error;
use memory_city_heap::regular;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables in which the VM or its launcher looks for options.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The beginnings of options that have an archive written.
const ARCHIVING: [&str; 8] = [
    "-XX:ArchiveClassesAtExit=",
    "-XX:+AutoCreateSharedArchive",
    "-XX:+RecordDynamicDumpInfo",
    "-XX:+DumpSharedSpaces",
    "-Xshare:dump",
    "-XX:AOTMode=record",
    "-XX:AOTMode=create",
    "-XX:AOTCacheOutput=",
];

/// The beginnings of options that load another agent, and agents that sample nothing.
const AGENTS: [&str; 2] = ["-agentpath:", "-agentlib:"];
const HARMLESS: [&str; 2] = ["-agentlib:jdwp", "-agentlib:instrument"];

/// An argument file is read to this length.
const LONGEST: u64 = 1 << 20;

/// The command of a recording, and the variables of its environment.
pub(super) struct VmOptions<'a> {
    pub program: &'a OsStr,
    pub arguments: &'a [OsString],
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl VmOptions<'_> {
    /// Why the program cannot be recorded: an option, and its place. `None` if it writes no archive.
    pub fn refusal(&self) -> Option<Error> {
        let (option, place) = self.find(&|word| ARCHIVING.iter().any(|option| word.starts_with(option)))?;
        Some(Error::Unusable {
            what: format!(
                "{option} in {place} has the JVM write an archive of its classes, which it does not do with a recorder in it: the program \
                 would not run as without"
            ),
            remedy: "Leave the option away for the run that is recorded, or write the archive in a run of its own"
                .into(),
        })
    }

    /// A note that another agent may miss its samples.
    pub fn of_other_agent(&self) -> Option<String> {
        let is_agent = |word: &str| {
            AGENTS.iter().any(|option| word.starts_with(option)) && !HARMLESS.iter().any(|of| word.starts_with(of))
        };
        let (option, place) = self.find(&is_agent)?;
        Some(format!(
            "{option} in {place} loads another agent. The VM lets one agent sample allocations: if that one wants to, it cannot while this \
             recording goes on"
        ))
    }

    /// The first option that fits, and its place.
    fn find(&self, fits: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        let in_text = |text: &str| {
            // Quotation marks around words are no part of them.
            let mut words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            words.find(|word| fits(word)).map(str::to_owned)
        };
        let is_java = Path::new(self.program).file_name() == Some(OsStr::new("java"));
        let words = if is_java { &self.arguments[..options(self.arguments)] } else { self.arguments };
        let in_arguments = words.iter().find_map(|word| {
            let word = word.to_string_lossy();
            match word.strip_prefix('@') {
                Some(file) => in_text(&text_of(Path::new(file))?).map(|option| (option, word.clone().into_owned())),
                None => fits(&word).then(|| (word.clone().into_owned(), "the command".to_owned())),
            }
        });
        let in_variables = || {
            VARIABLES.into_iter().find_map(|name| {
                let text = (self.variable)(name)?;
                in_text(&text.to_string_lossy()).map(|option| (option, name.to_owned()))
            })
        };
        in_arguments.or_else(in_variables)
    }
}

/// How many of the arguments of `java` are options of the VM: up to the class, jar or module that it runs.
fn options(arguments: &[OsString]) -> usize {
    let with_value =
        ["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens", "--add-exports"];
    let mut at = 0;
    while let Some(word) = arguments.get(at).map(|word| word.to_string_lossy()) {
        match &*word {
            "-jar" | "-m" | "--module" => break,
            word if with_value.contains(&word) => at += 2,
            word if word.starts_with(['-', '@']) => at += 1,
            _ => break,
        }
    }
    at.min(arguments.len())
}

/// The start of a file of arguments. A pipe is left to the program: it can be read once.
fn text_of(file: &Path) -> Option<String> {
    use std::io::Read;
    let mut text = Vec::new();
    regular::open(file).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_write_an_archive_are_refused_wherever_the_option_stands() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("options");
        std::fs::write(&file, "-Xmx1g\n\"-XX:ArchiveClassesAtExit=app.jsa\"\n").expect("written");
        let at_file = format!("@{}", file.display());
        let refused = |program: &str, arguments: &[&str], variable: Option<(&str, &str)>| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let of = |name: &str| variable.filter(|(of, _)| *of == name).map(|(_, value)| OsString::from(value));
            let options = VmOptions { program: OsStr::new(program), arguments: &arguments, variable: &of };
            options.refusal().map(|error| error.to_string())
        };
        for (program, arguments, variable, part) in [
            (
                "java",
                &["-XX:ArchiveClassesAtExit=a.jsa", "-jar", "x.jar"][..],
                None,
                "ArchiveClassesAtExit=a.jsa in the command",
            ),
            ("/opt/jdk/bin/java", &["-cp", "a", "-Xshare:dump"], None, "-Xshare:dump"),
            ("java", &[at_file.as_str(), "Main"], None, "ArchiveClassesAtExit=app.jsa in @"),
            ("./start.sh", &[], Some(("JAVA_TOOL_OPTIONS", "-Xmx1g -XX:AOTCacheOutput=a.aot")), "in JAVA_TOOL_OPTIONS"),
            ("java", &["Main"], Some(("JDK_JAVA_OPTIONS", "'-XX:AOTMode=record'")), "in JDK_JAVA_OPTIONS"),
            ("env", &["A=b", "java", "-XX:+AutoCreateSharedArchive", "Main"], None, "AutoCreateSharedArchive"),
        ] {
            let said = refused(program, arguments, variable).unwrap_or_else(|| panic!("{arguments:?} is recorded"));
            assert!(said.contains(part) && said.contains("Leave the option away"), "{said}");
        }
        // A pipe can be read once, by the program: it is not waited for, and stays as it is.
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).expect("a pipe");
        assert_eq!(refused("java", &[&format!("@{}", pipe.display()), "Main"], None), None);
        // What is only used, or is the program's own argument, is no matter.
        for (program, arguments) in [
            ("java", &["-XX:SharedArchiveFile=a.jsa", "-Xshare:auto", "-jar", "x.jar"][..]),
            ("java", &["-XX:AOTCache=a.aot", "Main"]),
            ("java", &["Main", "-Xshare:dump"]),
            ("java", &["-jar", "x.jar", "-XX:ArchiveClassesAtExit=a"]),
            ("java", &["@/no/such/file", "Main"]),
        ] {
            assert_eq!(refused(program, arguments, None), None, "{arguments:?}");
        }
    }

    #[test]
    fn another_agent_is_named_unless_it_samples_nothing() {
        let arguments = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<OsString>>();
        for (words, variable, named) in [
            (
                &["-agentpath:/opt/libprofiler.so=alloc", "Main"][..],
                "",
                Some("-agentpath:/opt/libprofiler.so=alloc in"),
            ),
            (&["Main"], "-Xmx1g -agentlib:other", Some("-agentlib:other in JAVA_TOOL_OPTIONS")),
            (&["-agentlib:jdwp=transport=dt_socket", "-javaagent:x.jar", "Main", "-agentlib:other"], "", None),
        ] {
            let of = |name: &str| (name == "JAVA_TOOL_OPTIONS").then(|| OsString::from(variable));
            let all = arguments(words);
            let options = VmOptions { program: OsStr::new("java"), arguments: &all, variable: &of };
            let said = options.of_other_agent();
            assert_eq!(said.is_some(), named.is_some(), "{words:?} {said:?}");
            assert!(said.unwrap_or_default().starts_with(named.unwrap_or_default()), "{words:?}");
        }
    }
}
