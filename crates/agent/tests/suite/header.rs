//! Positions of functions, numbers of events and bits of capabilities against the `jvmti.h` of every installed JDK.

#![cfg(target_os = "linux")]

use memory_city_agent::{CAPABILITIES, EVENTS, FUNCTIONS, IDENTITY_CAPABILITIES};
use std::path::PathBuf;

fn headers() -> Vec<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|e| e.path());
    homes.map(|home| home.join("include/jvmti.h")).filter(|header| header.exists()).collect()
}

#[test]
fn what_is_declared_stands_at_these_places_in_every_installed_header() {
    let headers = headers();
    if headers.is_empty() {
        assert!(std::env::var_os("MEMORY_CITY_REQUIRE_JVM").is_none(), "no jvmti.h below /usr/lib/jvm");
        eprintln!("*** SKIPPED: no jvmti.h below /usr/lib/jvm");
        return;
    }
    for header in headers {
        let text = std::fs::read_to_string(&header).expect("a header");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (name, position) in FUNCTIONS {
            let at = lines.iter().position(|l| l.starts_with(&format!("jvmtiError (JNICALL *{name})")));
            let at = at.unwrap_or_else(|| panic!("{name} is not in {}", header.display()));
            assert!(lines[at - 1].starts_with(&format!("/*   {position} :")), "{name}: {}", lines[at - 1]);
        }
        for (name, number) in EVENTS {
            assert!(
                lines.contains(&format!("JVMTI_EVENT_{name} = {number},").as_str()),
                "{name} in {}",
                header.display()
            );
        }
        let capabilities: Vec<&str> = lines
            .iter()
            .filter_map(|l| l.strip_prefix("unsigned int can_").and_then(|l| l.strip_suffix(" : 1;")))
            .collect();
        for (name, bit) in CAPABILITIES.into_iter().chain(IDENTITY_CAPABILITIES) {
            assert_eq!(capabilities[bit as usize], &name[4..], "{}", header.display());
        }
    }
}
