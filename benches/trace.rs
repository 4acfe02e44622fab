//! Speed of decoding and replaying traces.
fn main() {
    let path = std::env::args().skip(1).find(|a| !a.starts_with('-')).expect("a trace");
    let progress = memory_city::progress::Progress::new();
    let run = memory_city::trace::anttracks::find_run(&[path.into()]).expect("files").expect("a run");
    let files = run.open(&progress).expect("files");
    use memory_city::trace::event::{Decoder, Step};
    use memory_city::trace::replay::Replay;
    let t = std::time::Instant::now();
    let mut decoder = memory_city::trace::anttracks::AntTracks::new(files.clone());
    let mut replay = Replay::new(files.program().clone(), ());
    let mut peak = 0usize;
    let mut gc = 0;
    while decoder.step(&mut replay).expect("events") == Step::More {
        if replay.interval() != gc {
            gc = replay.interval();
            peak = peak.max(replay.memory());
        }
    }
    let s = t.elapsed().as_secs_f64();
    let heap = replay.state();
    let bytes: u64 = heap.objects().map(|o| heap.size_of(o)).sum();
    println!("{:.1} bytes per object", bytes as f64 / heap.object_count() as f64);
    println!("{} infos, {:?}", replay.infos().len(), replay.memory_parts());
    println!(
        "{} events in {s:.2} s: {:.1} M/s; {} live, {} bytes: {:.1} per object; peak {:.1}; {:?}",
        replay.events(),
        replay.events() as f64 / s / 1e6,
        replay.live(),
        replay.memory(),
        replay.memory() as f64 / replay.live() as f64,
        peak as f64 / replay.live() as f64,
        replay.oddities()
    );
}
