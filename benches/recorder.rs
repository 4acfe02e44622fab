//! What recording costs the program: rounds of the same work in one JVM, recorded and not in turns.
//!
//! `cargo bench --bench recorder --no-default-features`; needs a JDK 17 or newer, and H2 in /usr/share/java for its row.

#[cfg(target_os = "linux")]
fn main() {
    recorder::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod recorder {
    use memory_city::jvm::attach::AttachedJvm;
    use memory_city_agent::folder::AgentStatus;
    use memory_city_agent::{AgentOptions, LIBRARY, SamplingMode};
    use memory_city_testing::jvm::{Program, jdks};
    use memory_city_testing::root;
    use std::path::{Path, PathBuf};

    const WARM_UP: usize = 8;
    const PAIRS: usize = 12;
    const H2: &str = "/usr/share/java/h2.jar";

    pub fn main() {
        println!(
            "| JVM | program | recorded | ratio (median) | middle half | not recorded, next to each other | interval at the end |"
        );
        println!("|---|---|---|---|---|---|---|");
        for jdk in jdks().range(17..).map(|(_, jdk)| jdk) {
            let folder = tempfile::tempdir().expect("a folder");
            jdk.compile(&[&root().join("benches/java/Rounds.java")], H2, folder.path());
            let class_path = format!("{}:{H2}", folder.path().display());
            for work in ["allocate", "h2"] {
                if work == "h2" && !Path::new(H2).exists() {
                    println!("| {} | h2 | not installed | | | | |", jdk.version);
                    continue;
                }
                for (name, sampling) in
                    [("budget 2 %", SamplingMode::Budget(20_000)), ("every 512 KB", SamplingMode::Every(512 << 10))]
                {
                    let flags = ["-Xmx512m", "-XX:+EnableDynamicAgentLoading"];
                    let mut program = Program::start_with(jdk, &flags, &class_path, "Rounds", &[work]);
                    let options = AgentOptions { sampling, ..AgentOptions::default() };
                    let row = measure(&mut program, &options, folder.path());
                    println!("| {} | {work} | {name} | {row} |", jdk.version);
                }
            }
        }
    }

    fn library() -> PathBuf {
        let own = std::env::current_exe().expect("this program");
        own.parent().expect("a folder").join(LIBRARY)
    }

    fn measure(program: &mut Program, options: &AgentOptions, folder: &Path) -> String {
        let mut round = |program: &mut Program| program.ask("go").trim().parse::<f64>().expect("nanoseconds");
        for _ in 0..WARM_UP {
            round(program);
        }
        let jvm = AttachedJvm::open(program.pid).expect("the program");
        let (mut ratios, mut control, mut interval) = (Vec::new(), Vec::new(), 0);
        for pair in 0..PAIRS {
            let trace = folder.join(format!("{}-{pair}", program.pid));
            let options = AgentOptions { folder: trace.clone(), ..options.clone() };
            // Not recorded, recorded, recorded, not recorded: what drifts hits both alike.
            let first = round(program);
            jvm.load(&library(), &options.text()).expect("recording begins");
            let recorded = round(program) + round(program);
            interval = AgentStatus::read(&trace).map_or(0, |s| s.interval);
            jvm.load(&library(), &AgentOptions { stop: true, ..options }.text()).expect("recording ends");
            let (last, again) = (round(program), round(program));
            ratios.push(recorded / (first + last));
            control.push(again / last);
        }
        let (ratio, low, high) = quartiles(ratios);
        let (_, control_low, control_high) = quartiles(control);
        format!("{ratio:.3} | {low:.3} to {high:.3} | {control_low:.3} to {control_high:.3} | {} KB", interval >> 10)
    }

    /// Median, and where the middle half begins and ends.
    fn quartiles(mut all: Vec<f64>) -> (f64, f64, f64) {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[(share * (all.len() - 1) as f64).round() as usize];
        (at(0.5), at(0.25), at(0.75))
    }
}
