//! Holders of objects as the program has them: class loaders, static fields, variables with thread, method and line,
//! fields of threads.

use super::*;

#[test]
fn what_keeps_objects_is_what_the_program_has() {
    let source = std::fs::read_to_string(root().join("tests/java/Rooted.java")).expect("the source");
    let line = source.lines().position(|l| l.ends_with("// here: the variable")).expect("the line") + 1;
    with_jdks("what_keeps_objects", |jdk, class_path, temporary| {
        let plugins = temporary.join("plugins");
        std::fs::create_dir(&plugins).expect("a folder");
        let sources = ["Plugin", "Addon"].map(|name| root().join(format!("tests/java/plugins/{name}.java")));
        jdk.compile(&sources.each_ref().map(PathBuf::as_path), ".", &plugins);
        let folder = temporary.join("trace");
        let program = ["-Xmx300m", "-cp", class_path, "Rooted", "5000", &plugins.to_string_lossy()];
        let done = record(jdk, &folder, &["--walk-every", "1s", "--walk-share", "50"], &program);
        assert!(done.status.success(), "{}", text(&done.stderr));
        // The keys of the groups: each step from the root down, joined by #.
        let groups = |grouping: &str| {
            let (table, said) = of_trace(&["report", "--tree", "--format", "csv", "--grouping", grouping], &folder);
            assert!(table.contains("Heap#"), "{grouping}: {said}");
            // A quotation mark is written twice inside a text.
            table.replace("\"\"", "\"")
        };
        let roots = groups("rooted>type");
        for (what, kept) in [
            ("Static field#Rooted#kept", "Rooted$InField"),
            ("Static field#Rooted#LOADERS", "Rooted$ShopLoader[]"),
            ("Static field#Plugin#orders", "Plugin$Order[]"),
            ("Static field#Addon#first", "Addon"),
            (format!("Local variable#till of the shop#Rooted.holds() line {line}").as_str(), "Rooted$InVariable"),
        ] {
            assert!(roots.contains(&format!("Heap#{what}#{kept}")), "JDK {}: {what}: {roots}", jdk.version);
        }
        for thread in ["till of the shop", "keeper of \"keys\"", "main"] {
            assert!(roots.contains(&format!("Heap#Thread#{thread}#java.lang.Thread")), "{thread}: {roots}");
        }
        // What a thread keeps for itself is the thread's, in a variable that has a name.
        let owners = groups("owner>type");
        let own = "Heap#thread keeper of \"keys\"#java.lang.ThreadLocal$ThreadLocalMap#thread local Rooted.OWN#Rooted$InThread";
        assert!(owners.contains(own), "JDK {}: {owners}", jdk.version);
        // Each loader is told apart, below those that it asks first.
        let loaders = groups("loaders>type");
        for (of, class) in [("Plugin", "Plugin$Order"), ("Addon", "Addon")] {
            let there = loaders.lines().any(|group| {
                let below = format!("ClassLoaders$AppClassLoader#Rooted$ShopLoader of {of}#{class},");
                group.contains(&below)
                    && group.contains("Heap#bootstrap#jdk.internal.loader.ClassLoaders$PlatformClassLoader")
            });
            assert!(there, "JDK {}: {class}: {loaders}", jdk.version);
        }
        assert!(loaders.contains("#Plugin$Order[],"), "{loaders}");
        // The VM itself loads the class library.
        assert!(groups("loader>type").contains("Heap#bootstrap#java.lang.String,"), "{loaders}");
    });
}
