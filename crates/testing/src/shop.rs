//! A recording of a shop that goes on, whose walks are known.

use memory_city_wire::{
    ClassRow, RunRow, SampleRow, ThreadRow, TraceOptions, TraceTables, TraceWriter, WalkObject, WalkRootRow,
    WalkSampleRow, WalkStartRow,
};
use std::path::Path;

/// The start of a walk that tells addresses, references and roots, so many nanoseconds after the recording began.
pub fn complete_walk(time: u64) -> WalkStartRow {
    WalkStartRow {
        time,
        gcs: 3,
        alignment: 8,
        unit: 8,
        has_addresses: true,
        has_references: true,
        has_roots: true,
        ..WalkStartRow::default()
    }
}

/// A shop that is being recorded: each walk has carts in a list, every second of them a sample of one of two threads.
pub struct Shop {
    writer: TraceWriter,
    cart: u32,
    list: u32,
    noise: u32,
    threads: [u32; 2],
    walks: u64,
}

impl Shop {
    pub fn begin(folder: &Path, options: TraceOptions) -> Shop {
        let mut writer = TraceWriter::create_folder(folder, options).expect("a writer");
        let mut tables = TraceTables::new(1000);
        let mut name = |text: &str| tables.string(text).expect("a number");
        let names = ["shop.Cart", "shop.Cart[]", "int[]", "worker-1", "worker-2"].map(&mut name);
        let class = |name: u32| ClassRow { name, base: 24, ..ClassRow::default() };
        let array = |name: u32| ClassRow { kind: 1, base: 16, element: 4, ..class(name) };
        let (cart, list) = (tables.class(class(names[0])), tables.class(array(names[1])));
        let noise = tables.class(array(names[2]));
        let threads = [names[3], names[4]].map(|name| tables.thread(ThreadRow { name, ..ThreadRow::default() }));
        tables.write_new(&mut writer).expect("written");
        let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
        writer.write(&[fact("recording.started", "1700000002000")]).expect("written");
        Shop { writer, cart, list, noise, threads, walks: 0 }
    }

    /// A fact of the run.
    pub fn fact(&mut self, key: &str, value: &str) {
        self.writer.write(&[RunRow { key: key.into(), value: value.into() }]).expect("written");
    }

    /// A further walk, with so many carts and so much beside them.
    pub fn walk(&mut self, carts: u64, noise: u64) {
        let samples: Vec<u64> = (0..carts).step_by(2).collect();
        let id = |cart: u64| 1000 * self.walks + cart;
        let sample = |&cart: &u64| SampleRow {
            id: id(cart),
            thread: self.threads[usize::from(cart % 4 == 0)],
            class: self.cart,
            size: 24,
            weight: 1 << 16,
            gcs: 1,
            ..SampleRow::default()
        };
        self.writer.write(&samples.iter().map(sample).collect::<Vec<_>>()).expect("written");
        let links: Vec<(u64, u64)> = samples.iter().map(|&cart| (cart, id(cart))).collect();
        self.walks += 1;
        let mut walk = self.writer.begin_walk(complete_walk(self.walks * 1_000_000_000)).expect("a walk");
        let number = walk.number();
        for cart in 0..carts {
            let object = WalkObject { address: 100 + 3 * cart, class: self.cart, ..WalkObject::default() };
            walk.object(&object, &[]).expect("listed");
        }
        let all: Vec<u64> = (0..carts).collect();
        let mut address = 100 + 3 * carts;
        let list = WalkObject { address, class: self.list, length: Some(carts as u32), ..WalkObject::default() };
        walk.object(&list, &all).expect("listed");
        address += 3 + carts;
        let mut random = 12345u64;
        for _ in 0..noise {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let length = (random >> 40) as u32 % 4096;
            let object = WalkObject { address, class: self.noise, length: Some(length), ..WalkObject::default() };
            walk.object(&object, &[]).expect("listed");
            address += 3 + u64::from(length);
        }
        let links: Vec<WalkSampleRow> =
            links.iter().map(|&(object, sample)| WalkSampleRow { walk: number, object, sample }).collect();
        walk.rows(&links).expect("written");
        let root = |object| WalkRootRow { walk: number, object, kind: 6, ..WalkRootRow::default() };
        walk.roots(&(carts..=carts + noise).map(root).collect::<Vec<_>>()).expect("written");
        walk.finish(Some(1_000_000)).expect("finished");
    }
}
