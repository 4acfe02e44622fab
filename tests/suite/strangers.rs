//! Folders with content by strangers harm no reader: commands that read change nothing, wait for nothing and follow no
//! link out. Each of them opens folders full of links, pipes, sockets, devices and lookalikes, and each entry in them.
//! The whole file system of the test is compared before and after.

#![cfg(target_os = "linux")]

use memory_city_testing::hprof_writer;
use memory_city_testing::shop::Shop;
use memory_city_wire::TraceOptions;
use std::collections::BTreeMap;
use std::fs::{File, create_dir_all, write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// Longest run of a command; a longer one waits for an event that never comes. Without a neighbour each takes a
/// fraction of a second.
const HANGS: Duration = Duration::from_secs(60);

/// All that a file system says of what is below a folder: kind, rights, owner, length, time of change; content, or where a link leads.
fn state_of(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut state = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().expect("it is there");
        let kind = meta.file_type();
        let inside = if kind.is_file() {
            let mut hasher = DefaultHasher::new();
            std::fs::read(&path).expect("readable").hash(&mut hasher);
            format!("{:x}", hasher.finish())
        } else if kind.is_symlink() {
            path.read_link().expect("a link").display().to_string()
        } else {
            format!("folder {} pipe {} socket {}", kind.is_dir(), kind.is_fifo(), kind.is_socket())
        };
        if kind.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        }
        let of = (meta.mode(), meta.uid(), meta.gid(), meta.size(), meta.mtime(), meta.mtime_nsec(), meta.nlink());
        state.insert(path, format!("{of:?} {inside}"));
    }
    state
}

/// Runs a command to its end; `None` where it hangs.
fn run(words: &[&str], cache: &Path) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    command.args(words).env("MEMORY_CITY_CACHE", cache).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let begun = Instant::now();
    // What it prints here fits into the pipes.
    while child.try_wait().expect("its state").is_none() {
        if begun.elapsed() > HANGS {
            child.kill().and_then(|()| child.wait()).expect("killed");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(Child::wait_with_output(child).expect("what it said"))
}

/// The number of a user that does not exist.
const STRANGER: u32 = 12_345;

fn pipe(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).expect("a pipe");
}

fn recording(folder: &Path) {
    let mut shop = Shop::begin(folder, TraceOptions::default());
    shop.walk(10, 5);
    shop.walk(20, 5);
}

/// Scratch folders: what is opened, what links lead to, and the cache of who opens it.
struct Strange {
    _scratch: tempfile::TempDir,
    inputs: PathBuf,
    targets: PathBuf,
    cache: PathBuf,
    outputs: PathBuf,
    /// For as long as the sockets are listened to.
    _sockets: Vec<UnixListener>,
}

impl Strange {
    fn make() -> Strange {
        let scratch = tempfile::tempdir().expect("a folder");
        let [inputs, targets, cache, outputs] =
            ["inputs", "targets", "cache", "outputs"].map(|name| scratch.path().join(name));
        let mut sockets = Vec::new();
        for folder in [&outputs, &targets.join("documents")] {
            create_dir_all(folder).expect("made");
        }
        for name in ["diary", "documents/1.hprof", "documents/1.links", "documents/letter.txt"] {
            write(targets.join(name), "Monday").expect("written");
        }
        let folder = |name: &str| {
            let folder = inputs.join(name);
            create_dir_all(&folder).expect("made");
            move |file: &str| folder.join(file)
        };
        // A recording beside which all is linked elsewhere.
        let linked = folder("linked");
        recording(&linked(""));
        symlink(targets.join("documents"), linked(".walks")).expect("linked");
        symlink(targets.join("made"), linked(".recorder")).expect("linked");
        symlink("/dev/zero", linked(".status")).expect("linked");
        symlink(targets.join("diary"), linked(".program")).expect("linked");
        symlink(targets.join("diary"), linked(".01-walk")).expect("linked");
        symlink(targets.join("made"), linked("01-000000.mcity")).expect("linked");
        write(linked(".attach_pid1"), "").expect("written");
        sockets.push(UnixListener::bind(linked(".java_pid1")).expect("bound"));
        // An empty lookalike.
        let empty = folder("empty");
        write(empty("a.mcity"), "").expect("written");
        symlink(targets.join("documents"), empty(".walks")).expect("linked");
        // Pipes for what a recorder leaves.
        let pipes = folder("pipes");
        recording(&pipes(""));
        create_dir_all(pipes(".walks")).expect("made");
        for name in [".walks/1.hprof", ".walks/2.links", ".walks/2.numbers", ".recorder", ".status", ".program"] {
            pipe(&pipes(name));
        }
        write(pipes(".walks/1.links"), "walk 1 0 9 1\n").expect("written");
        // What a recorder that was killed leaves, and more.
        let left = folder("left");
        recording(&left(""));
        create_dir_all(left(".walks")).expect("made");
        write(left(".walks/1.hprof"), hprof_writer::small(2, 8, 10)).expect("written");
        write(left(".walks/1.links"), "walk 1 0 9 1\n").expect("written");
        write(left(".walks/2.hprof"), "JAVA PROFILE 1.0.2\0").expect("written");
        write(left(".walks/diary.txt"), "Monday").expect("written");
        write(left(".status"), format!("pid {}\nsamples 3\nended \n", i32::MAX)).expect("written");
        write(left(".program"), format!("{}\n\n", i32::MAX)).expect("written");
        write(left(".recorder"), "").expect("written");
        // Dumps, trees, and what is called so.
        let odd = folder("odd");
        write(odd("1.hprof"), hprof_writer::small(2, 8, 10)).expect("written");
        pipe(&odd("2.hprof"));
        pipe(&odd("tree.json"));
        pipe(&odd("view.json.gz"));
        symlink("/dev/zero", odd("3.hprof")).expect("linked");
        symlink("/dev/full", odd("4.mcity")).expect("linked");
        symlink(targets.join("diary"), odd("5.hprof")).expect("linked");
        symlink("loop.mcity", odd("loop.mcity")).expect("linked");
        symlink("nowhere", odd("dangling.hprof")).expect("linked");
        create_dir_all(odd("6.mcity/inner")).expect("made");
        write(odd("7.mcity"), "no recording").expect("written");
        sockets.push(UnixListener::bind(odd("8.mcity")).expect("bound"));
        // View files that lead there.
        let views = folder("views");
        for (name, data) in [("left", "../left"), ("linked", "../linked/00-000000.mcity"), ("pipe", "../odd/2.hprof")] {
            let view =
                format!(r#"{{"format":"memory-city view","version":1,"data":["{data}"],"grouping":"type","time":1}}"#);
            write(views(&format!("{name}.json")), view).expect("written");
        }
        // The cache of who opens them, where a neighbour was first: old, so that it might be tidied.
        create_dir_all(cache.join("recordings")).expect("made");
        create_dir_all(cache.join("live")).expect("made");
        let old = SystemTime::now() - Duration::from_secs(86_400);
        for name in ["trace-a.partial", "trace-b.partial", "0123456789abcdef.index", "fedcba9876543210.index"] {
            write(targets.join(name), "MCINDEX\n").expect("written");
            File::options().append(true).open(targets.join(name)).and_then(|f| f.set_modified(old)).expect("a time");
            symlink(targets.join(name), cache.join(name)).expect("linked");
        }
        pipe(&cache.join("trace-c.partial"));
        pipe(&cache.join("dump-0123456789abcdef.index"));
        pipe(&cache.join("recordings/4194304-1"));
        symlink(targets.join("diary"), cache.join("recordings/4194304-2")).expect("linked");
        write(cache.join("recordings/4194304-0"), left("").to_string_lossy().as_bytes()).expect("written");
        let strange = Strange { _scratch: scratch, inputs, targets, cache, outputs, _sockets: sockets };
        strange.give_some_away();
        strange
    }

    /// Files of another user, where this is root, who may make some.
    fn give_some_away(&self) {
        for name in ["left/.walks/2.hprof", "odd/7.mcity"] {
            let _ = chown(self.inputs.join(name), Some(STRANGER), None);
        }
    }

    /// All folders, and each of their entries.
    fn all(&self) -> Vec<String> {
        let entries = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
        };
        let folders = entries(&self.inputs);
        let inside: Vec<PathBuf> = folders.iter().flat_map(|folder| entries(folder)).collect();
        [folders, inside].concat().iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Inputs, targets of links, and files of neighbours in the cache. All else in the cache is this program's.
    fn state(&self) -> BTreeMap<PathBuf, String> {
        let mut state = state_of(&self.inputs);
        state.extend(state_of(&self.targets));
        let planted = ["trace-a.partial", "trace-b.partial", "trace-c.partial", "recordings", "live"];
        let indexes = ["0123456789abcdef.index", "fedcba9876543210.index", "dump-0123456789abcdef.index"];
        for name in planted.iter().chain(&indexes) {
            state.extend(state_of(&self.cache.join(name)));
        }
        state
    }

    fn same_as(&self, before: &BTreeMap<PathBuf, String>, what: &str) {
        let now = self.state();
        let changed: Vec<_> = before.iter().filter(|(path, was)| now.get(*path) != Some(was)).collect();
        let new: Vec<_> = now.keys().filter(|path| !before.contains_key(*path)).collect();
        assert!(changed.is_empty() && new.is_empty(), "{what} changed {changed:#?}, made {new:?}");
    }
}

/// Runs commands, several at a time, and says which of them hang, panic or end by a signal.
fn run_all(strange: &Strange, commands: Vec<Vec<String>>) -> Vec<String> {
    let (commands, wrong) = (Mutex::new(commands), Mutex::new(Vec::new()));
    let next = || commands.lock().expect("no panic").pop();
    let work = || {
        while let Some(words) = next() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = run(&words, &strange.cache);
            // 101 is a panic, and none a signal; what cannot be read is 1, and a check that failed 3.
            let code = ended.as_ref().and_then(|ended| ended.status.code());
            if !matches!(code, Some(0 | 1 | 3)) {
                let said =
                    ended.map_or_else(|| "hangs".to_owned(), |e| String::from_utf8_lossy(&e.stderr).into_owned());
                wrong.lock().expect("no panic").push(format!("{words:?}: {code:?} {said}"));
            }
        }
    };
    std::thread::scope(|threads| (0..4).for_each(|_| _ = threads.spawn(work)));
    wrong.into_inner().expect("no panic")
}

#[test]
fn commands_that_read_change_nothing_and_wait_for_nothing() {
    let strange = Strange::make();
    let before = strange.state();
    let mut commands = vec![vec!["jvms".to_owned()]];
    for (number, path) in strange.all().into_iter().enumerate() {
        let output = |end: &str| strange.outputs.join(format!("{number}.{end}")).to_string_lossy().into_owned();
        let (page, tree, picture) = (output("html"), output("json"), output("png"));
        let words: &[&[&str]] = &[
            &["report", &path],
            &["analyse", "heap", &path],
            &["compare", &path, &path],
            &["check", &path, "--max-growth", "1GB"],
            &["convert", &path, "-o", &tree],
            &["page", &path, "-o", &page],
            #[cfg(feature = "viewer")]
            &["render", &path, "-o", &picture, "--size", "64x64"],
        ];
        let _ = &picture;
        // A picture takes a second each where there is no graphics card: of folders and views alone.
        let is_picture = |words: &&&[&str]| words[0] != "render" || path.contains("/views");
        commands.extend(words.iter().filter(is_picture).map(|words| words.iter().map(|w| (*w).to_owned()).collect()));
    }
    let wrong = run_all(&strange, commands);
    assert!(wrong.is_empty(), "{wrong:#?}");
    strange.same_as(&before, "reading");
}

/// The first lines name the files that were left alone.
#[test]
fn what_an_interrupted_recording_left_is_told_and_stays() {
    let strange = Strange::make();
    let before = strange.state();
    for (name, is_left) in [("left", true), ("left/00-000000.mcity", true), ("linked", false), ("pipes", true)] {
        let path = strange.inputs.join(name).to_string_lossy().into_owned();
        let done = run(&["report", &path], &strange.cache).expect("it ends");
        let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(done.status.success(), "{name}: {said}");
        assert_eq!(said.contains("an interrupted recording left 1 walk"), is_left, "{name}: {said}");
        assert_eq!(said.contains("`memory-city finish "), is_left, "{name}: {said}");
        let first = said.lines().take(2).any(|line| line.contains("an interrupted recording left"));
        assert_eq!(first, is_left, "in the first lines: {name}: {said}");
    }
    strange.same_as(&before, "reading");
}

/// Finishing touches what a recorder makes, in a folder of this user, and nothing that links lead to.
#[test]
fn finishing_follows_no_link_and_waits_for_no_pipe() {
    let strange = Strange::make();
    let targets = state_of(&strange.targets);
    for (name, expected, said_so) in [
        ("linked", 1, "its lock is no file"),
        ("empty", 1, "There is no recording"),
        ("odd", 1, "There is no recording"),
        ("pipes", 1, "its lock is no file"),
        ("left", 0, "1 walk was added"),
        ("left", 0, "there was nothing to add"),
    ] {
        let path = strange.inputs.join(name).to_string_lossy().into_owned();
        let done = run(&["finish", &path], &strange.cache).expect("it ends");
        let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(done.status.code() == Some(expected) && said.contains(said_so), "{name}: {said}");
        assert_eq!(state_of(&strange.targets), targets, "{name}");
    }
    let left = strange.inputs.join("left/.walks");
    let names: Vec<_> = std::fs::read_dir(&left).expect("it stays").flatten().map(|entry| entry.file_name()).collect();
    assert!(names.iter().any(|name| name == "diary.txt") && names.len() <= 2, "{names:?}");
    // The walk is in the recording now.
    let path = strange.inputs.join("left").to_string_lossy().into_owned();
    let series = memory_city_formats::open(&[path.into()], &memory_city_heap::progress::Progress::new());
    assert_eq!(series.expect("a recording").points().len(), 3);
}

/// A process of another user pretends to be recorded. If root attaches to it, it gets neither the targets of links in
/// its folder nor a new file there.
#[test]
fn root_gives_away_what_it_made_alone() {
    if !rustix::process::geteuid().is_root() {
        return memory_city_testing::jvm::skip("root_gives_away", "this is not root");
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let (folder, secret) = (scratch.path().join("recording"), scratch.path().join("secret"));
    recording(&folder);
    write(&secret, "only root's").expect("written");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).expect("root's alone");
    std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).expect("for all");
    for link in [".status", ".walks"] {
        symlink(&secret, folder.join(link)).expect("linked");
    }
    for path in [folder.clone(), folder.join("00-000000.mcity")] {
        chown(path, Some(STRANGER), Some(STRANGER)).expect("given away");
    }
    let mut stranger = Command::new("sh");
    stranger.args(["-c", "exec 3<00-000000.mcity; echo; sleep 600 3<&3"]).current_dir(&folder);
    let mut stranger = stranger.uid(STRANGER).gid(STRANGER).stdout(Stdio::piped()).spawn().expect("it runs");
    std::io::Read::read_exact(stranger.stdout.as_mut().expect("its output"), &mut [0]).expect("it has begun");
    let pid = stranger.id();
    write(folder.join(".program"), format!("{pid}\n\n")).expect("written");
    chown(folder.join(".program"), Some(STRANGER), Some(STRANGER)).expect("given away");
    let before = state_of(&secret);
    let made = scratch.path().join("made");
    for is_linked in [false, true] {
        if is_linked {
            symlink(&made, folder.join(".recorder")).expect("linked");
        }
        let done = run(&["attach", &pid.to_string(), "--for", "1s"], &scratch.path().join("cache")).expect("it ends");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(said.contains("is being recorded already"), !is_linked, "{said}");
        assert_eq!(state_of(&secret), before, "{said}");
        assert!(!made.exists(), "{said}");
    }
    stranger.kill().and_then(|()| stranger.wait()).expect("killed");
}

/// The token of a city is for the recording process: the program that it starts does not get it.
#[test]
fn the_token_of_a_city_stays_with_the_recording_process() {
    let scratch = tempfile::tempdir().expect("a folder");
    let output = scratch.path().join("trace").to_string_lossy().into_owned();
    let said = "echo \"token: $MEMORY_CITY_LIVE_TOKEN.\"";
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    command.args(["record", "-o", &output, "--", "sh", "-c", said]).env("MEMORY_CITY_LIVE_TOKEN", "a secret");
    let done = command.env("MEMORY_CITY_CACHE", scratch.path().join("cache")).stdin(Stdio::null()).output();
    let done = done.expect("it runs");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "token: .\n", "{}", String::from_utf8_lossy(&done.stderr));
}

/// Nothing is kept in the cache of another user, nor taken from there. The rest goes on, with a message.
#[test]
fn the_cache_of_another_user_is_left_alone() {
    if !rustix::process::geteuid().is_root() {
        return memory_city_testing::jvm::skip("the_cache_of_another_user", "this is not root");
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let (dump, cache) = (scratch.path().join("1.hprof"), scratch.path().join("cache"));
    write(&dump, hprof_writer::small(2, 8, 10)).expect("written");
    create_dir_all(&cache).expect("made");
    chown(&cache, Some(STRANGER), Some(STRANGER)).expect("given away");
    let dump = dump.to_string_lossy();
    let done = run(&["compare", &dump, &dump], &cache).expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("is no folder of this user"), "{said}");
    assert_eq!(std::fs::read_dir(&cache).expect("it").count(), 0);
}
