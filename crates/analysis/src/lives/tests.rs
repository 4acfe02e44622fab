//! Ranges of ages, and survival by hand.

use super::*;

#[test]
fn ages_fall_into_their_ranges() {
    for (age, text) in [
        (0, "0 GCs survived"),
        (15, "15 GCs survived"),
        (16, "16 to 31 GCs survived"),
        (31, "16 to 31 GCs survived"),
        (32, "32 to 63 GCs survived"),
        (u32::MAX, "2147483648 to 4294967295 GCs survived"),
    ] {
        assert!(age_bucket(age) < AGES);
        assert_eq!(age_bucket_text(age_bucket(age)), text);
    }
}
