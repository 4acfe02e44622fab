//! What the load benchmarks of live trees send.

/// Groups of a time.
pub const GROUPS: u64 = 10_000;

/// A time of which every count differs from those of its neighbours.
pub fn message(t: usize) -> String {
    let mut text = r#"{"do":"append","time":{"tree":{"children":["#.to_owned();
    for i in 0..GROUPS {
        let objects = (i * 7919 + t as u64 * 104_729) % 100_000;
        let comma = if i == 0 { "" } else { "," };
        text.push_str(&format!(
            "{comma}{{\"name\":\"org.example.Type{i}\",\"role\":\"Type\",\"objects\":{objects},\"bytes\":{}}}",
            objects * 24
        ));
    }
    text.push_str("]}}}");
    text
}
