//! Estimates from samples are within their stated error, at a fixed interval and at one that changes during the run.

#![cfg(target_os = "linux")]

use crate::common::{Trace, run, with_jdks};
use memory_city_agent::folder::{AgentStatus, RecorderLock};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_formats::sampled::SampledAmount;
use memory_city_formats::wire;
use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Jdk};
use memory_city_wire::{ChunkKind, LossReason, WEIGHT_ONE};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A program of many classes that makes objects of each, in so many rounds.
fn many_classes(classes: usize) -> String {
    let mut source = String::from("public final class Many {\n    static volatile Object sink;\n");
    for n in 0..classes {
        let fields: String = (0..n % 40).map(|f| format!(" long f{f};")).collect();
        source.push_str(&format!("    static final class M{n} {{{fields} }}\n"));
        source.push_str(&format!(
            "    static void make{n}(int count) {{ for (int i = 0; i < count; i++) {{ sink = new M{n}(); }} }}\n"
        ));
    }
    // In rounds, so that no class has an interval of its own; now and then it rests, so that the time budget changes the interval.
    for round in 0..classes.div_ceil(500) {
        source.push_str(&format!("    static void some{round}() {{\n"));
        for n in (round * 500..classes).take(500) {
            source.push_str(&format!("        make{n}({});\n", objects_of(n) / 10));
        }
        source.push_str("    }\n");
    }
    source.push_str("    public static void main(String[] a) throws Exception {\n");
    source.push_str(
        "        for (int i = 0; i < Integer.parseInt(a[0]); i++) { if (i % 16 == 15) { Thread.sleep(300); }",
    );
    (0..classes.div_ceil(500)).for_each(|round| source.push_str(&format!(" some{round}();")));
    source.push_str(" } System.out.println(\"done\"); }\n}\n");
    source
}

/// About 1.5 MB of each in ten rounds: of some dozens of samples the error itself is known only roughly.
fn objects_of(class: usize) -> u64 {
    1_500_000 / (16 + 8 * (class as u64 % 40)) / 10 * 10
}

/// Weighted bytes of samples are within three standard deviations of the true ones for 99 % of the classes of which there are 30
/// samples or more.
#[test]
fn estimates_are_within_their_error() {
    with_jdks("estimates_are_within_their_error", |jdk, class_path, temporary| {
        estimated(jdk, class_path, temporary, SamplingMode::Every(8 << 10), 10);
    });
}

/// The same where the interval follows what sampling costs, and so changes all the time. With five times the usual budget, to have
/// enough samples of a thousand classes in seconds.
#[test]
fn estimates_are_within_their_error_under_a_time_budget() {
    with_jdks("estimates_under_a_time_budget", |jdk, class_path, temporary| {
        estimated(jdk, class_path, temporary, SamplingMode::Budget(100_000), 100);
    });
}

/// With the default budget, which takes a minute for as many samples.
#[test]
#[ignore = "takes some minutes: `make recorder-test`"]
fn estimates_are_within_their_error_under_the_default_budget() {
    with_jdks("estimates_under_the_default_budget", |jdk, class_path, temporary| {
        estimated(jdk, class_path, temporary, AgentOptions::default().sampling, 600);
    });
}

/// If too many samples are alive, some are dropped. The trace has and counts each of them, and the time from which one
/// stands for several. The estimates from the rest stay within their error.
#[test]
fn samples_stand_for_those_that_were_let_go_of() {
    const MOST: u32 = 1000;
    with_jdks("samples_stand_for_those_that_were_let_go_of", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let sampling = SamplingMode::Every(4 << 10);
        let options =
            AgentOptions { folder: folder.clone(), sampling, followed: MOST, walks: 0, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Leaky", "3000"]);
        assert!(printed.contains("done"), "{printed}");
        let (status, trace) = (AgentStatus::read(&folder).expect("its last words"), Trace::read(&folder));
        assert_eq!((trace.end(), trace.damaged), ("the program ended", 0));

        let let_go = trace.deaths.iter().filter(|death| death.let_go).count() as u64;
        let of_deaths = trace.losses.iter().filter(|row| row.what == u32::from(ChunkKind::DEATHS.0));
        let counted: u64 = of_deaths.filter(|row| row.reason == LossReason::Thinned).map(|row| row.count).sum();
        assert_eq!((counted, status.thinned), (let_go, let_go), "each is named, counted, and told");
        assert!(let_go > u64::from(MOST) && status.live <= u64::from(MOST), "{let_go} let go of, {} live", status.live);
        let told = trace.settings.iter().filter(|row| row.key == memory_city_wire::FOLLOWED_ONE_IN);
        let told: Vec<u32> = told.map(|row| row.value.parse().expect("a number")).collect();
        assert!(
            told.iter().any(|one_in| *one_in > 1) && told.iter().all(|one_in| one_in.is_power_of_two()),
            "{told:?}"
        );

        // What sessions hold never dies: all samples of it say how much there was, those that are left how much is alive.
        let paths = [folder.clone()];
        let counted = wire::counted(&paths, &Progress::new()).expect("it opens").expect("estimates");
        let last = counted.times.len() - 1;
        let sampled = counted.sampled(&[last], &Progress::new()).expect("read").expect("samples");
        assert!(sampled.is_thinned);
        let is_of_session =
            |site: u32| sampled.sites[site as usize].frames.iter().any(|frame| frame.contains("Leaky$Session"));
        let mut left = SampledAmount::default();
        for (group, amount) in sampled.groups.iter().zip(sampled.alive_by_group(0)) {
            if &*group.class == "byte[]" && is_of_session(group.site) {
                left.add(amount);
            }
        }
        let until = counted.times[last].millis - trace.run["recording.started"].parse::<u64>().expect("a time");
        let mut all = SampledAmount::default();
        for sample in trace.samples.iter().filter(|s| s.time / 1_000_000 <= until && trace.class(s) == "byte[]") {
            if trace.stack(sample).iter().any(|frame| frame.starts_with("Leaky$Session.")) {
                all.add(SampledAmount::of_sample(sample.size, sample.weight as f64 / WEIGHT_ONE as f64));
            }
        }
        jvm::say(&format!(
            "  {let_go} let go of, one in {told:?} followed; by {} samples {:.0} bytes, by {} that are left {:.3} of that, three sigma are {:.3}",
            all.samples,
            all.bytes,
            left.samples,
            left.bytes / all.bytes,
            left.error() / all.bytes
        ));
        assert!(all.samples > 2 * left.samples && left.samples >= 15, "{all:?} {left:?}");
        assert!((left.bytes - all.bytes).abs() <= 4.0 / 3.0 * left.error(), "{left:?} of {all:?}");
    });
}

/// With each collector, whose ways to allocate differ.
#[test]
#[ignore = "takes some minutes: `make recorder-test`"]
fn estimates_are_within_their_error_under_every_collector() {
    with_jdks("estimates_under_every_collector", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().iter().enumerate() {
            jvm::say(&format!("  JDK {}: {flags:?}", jdk.version));
            let folder = temporary.join(number.to_string());
            estimated_with(jdk, flags, class_path, &folder, SamplingMode::Every(4 << 10), 10);
        }
    });
}

/// The cost of sampling stays within its budget and at most half of it more. That includes the time before the first
/// adjustment.
fn within_budget(status: &AgentStatus, sampling: SamplingMode) {
    let SamplingMode::Budget(ppm) = sampling else { return };
    let (budget, share) = (f64::from(ppm) / 1e6, status.sampling as f64 / status.elapsed as f64);
    jvm::say(&format!("  sampling took {:.2} % of a core, {:.0} % are allowed", 100.0 * share, 100.0 * budget));
    assert!(status.sampling > 0 && share <= 1.5 * budget, "{share} of {budget}: {status:?}");
}

/// Records a program that makes so many rounds, and holds what its samples estimate against what it made. A machine that has left time
/// for too few samples has the program make four times as many rounds.
fn estimated(jdk: &Jdk, class_path: &str, temporary: &Path, sampling: SamplingMode, rounds: u64) {
    estimated_with(jdk, &[], class_path, temporary, sampling, rounds);
}

/// The same of a VM with these flags.
fn estimated_with(jdk: &Jdk, flags: &[&str], class_path: &str, temporary: &Path, sampling: SamplingMode, rounds: u64) {
    const CLASSES: usize = 1000;
    std::fs::create_dir_all(temporary).expect("made");
    let source = temporary.join("Many.java");
    std::fs::write(&source, many_classes(CLASSES)).expect("written");
    jdk.compile(&[&source], class_path, Path::new(class_path));
    for (attempt, rounds) in [rounds, 4 * rounds].into_iter().enumerate() {
        let folder = temporary.join(format!("trace-{attempt}"));
        std::fs::create_dir(&folder).expect("made");
        // Nobody takes away what it says at its end.
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &[flags, &["Many", &rounds.to_string()]].concat());
        assert!(printed.contains("done"), "{printed}");
        within_budget(&AgentStatus::read(&folder).expect("its last words"), sampling);
        let trace = Trace::read(&folder);
        let of_samples = trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::SAMPLES.0));
        assert_eq!(of_samples.count(), 0, "nothing is lost: {:?}", trace.losses);
        let mut sums: HashMap<usize, (SampledAmount, u64)> = HashMap::new();
        let (mut estimate, mut made, mut intervals) = (0.0, 0, HashSet::new());
        for sample in &trace.samples {
            let Some(class) = trace.class(sample).strip_prefix("Many$M").and_then(|n| n.parse().ok()) else { continue };
            let sum = sums.entry(class).or_default();
            sum.0.add(SampledAmount::of_sample(sample.size, sample.weight as f64 / WEIGHT_ONE as f64));
            sum.1 = sample.size;
        }
        intervals.extend(trace.settings.iter().filter(|s| s.key == "sampling.interval").map(|s| s.value.clone()));
        let (mut compared, mut within, mut high) = (0, 0, 0);
        for (class, (amount, size)) in &sums {
            let truth = objects_of(*class) / 10 * rounds * size;
            (estimate, made) = (estimate + amount.bytes, made + truth);
            if amount.samples >= 30 {
                compared += 1;
                within += usize::from((amount.bytes - truth as f64).abs() <= amount.error());
                high += usize::from(amount.bytes > truth as f64);
            }
        }
        let ratio = estimate / made as f64;
        jvm::say(&format!(
            "  {within} of {compared} classes within three sigma, {high} above the truth, all together {ratio:.4} of it, {} intervals told",
            intervals.len()
        ));
        if compared <= CLASSES * 9 / 10 && attempt == 0 {
            continue;
        }
        assert!(compared > CLASSES * 9 / 10 && within * 100 >= compared * 99, "{within} of {compared}");
        // All classes together are far better known than each: what is amiss with the weights of all shows here.
        let all = sums.into_values().fold(SampledAmount::default(), |mut sum, (amount, _)| {
            sum.add(amount);
            sum
        });
        assert!((estimate - made as f64).abs() <= 4.0 / 3.0 * all.error(), "{ratio} of the truth");
        let moves = matches!(sampling, SamplingMode::Budget(_));
        assert_eq!(intervals.len() > 2, moves, "{intervals:?}");
        return;
    }
}
