//! Live generations of 100,000 allocations over 10,000 collections: kept up to date by births and deaths, and the naive way, which asks
//! every object after a collection. Both must count the same.
//!
//! Least of several rounds. `cargo bench --bench generations --no-default-features`

use memory_city_analysis::lives::{AliveObjects, GenerationCounter};
use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ALLOCATIONS: u32 = 100_000;
const COLLECTIONS: u32 = 10_000;
/// Allocations that have objects between two collections.
const ACTIVE: u32 = 200;
const ROUNDS: usize = 5;

/// Objects of an allocation: so many collections had ended when they were born, and the collection, counted from 1, that frees them.
struct Born {
    allocation: u32,
    birth: u32,
    death: u32,
}

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let (collections, rounds) = if test { (100, 1) } else { (COLLECTIONS, ROUNDS) };
    let born = run(collections);
    let mut deaths: Vec<&Born> = born.iter().filter(|of| of.death <= collections).collect();
    deaths.sort_by_key(|of| of.death);
    let one = AliveObjects { counted: 1, objects: 1.0, bytes: 16.0 };
    let mut least = Duration::MAX;
    let mut ours = Vec::new();
    for _ in 0..rounds {
        let begun = Instant::now();
        let mut counter = GenerationCounter::default();
        let (mut births, mut dead) = (born.iter().peekable(), deaths.iter().peekable());
        for gc in 1..=collections {
            while let Some(of) = births.next_if(|of| of.birth < gc) {
                counter.born(of.allocation, of.birth, one);
            }
            while let Some(of) = dead.next_if(|of| of.death == gc) {
                counter.died(of.allocation, of.birth, one);
            }
        }
        ours = (0..ALLOCATIONS).map(|allocation| counter.count(allocation)).collect();
        least = least.min(begun.elapsed());
        black_box(&ours);
    }
    let begun = Instant::now();
    let alive: HashSet<(u32, u32)> =
        born.iter().filter(|of| of.death > collections).map(|of| (of.allocation, of.birth)).collect();
    let mut naive = vec![0; ALLOCATIONS as usize];
    alive.iter().for_each(|(allocation, _)| naive[*allocation as usize] += 1);
    let once = begun.elapsed();
    assert_eq!(ours, naive);
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "| live generations of {ALLOCATIONS} allocations, {collections} collections | time (s) | ratio |\n|---|---|---|"
    );
    println!("| every object, after the last collection alone | {:.3} | |", seconds(once));
    println!("| births and deaths, after each | {:.3} | {:.2}x |", seconds(least), seconds(least) / seconds(once));
}

/// Births in order. One allocation in a thousand leaks; the others keep their objects for some collections.
fn run(collections: u32) -> Vec<Born> {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % u64::from(below)) as u32
    };
    let mut born = Vec::new();
    for birth in 0..collections {
        for _ in 0..ACTIVE {
            let allocation = random(ALLOCATIONS);
            let death = if allocation % 1000 == 0 { u32::MAX } else { birth + 1 + random(20) };
            born.push(Born { allocation, birth, death });
        }
    }
    born
}
