//! Division of a run of boxes by the shaders that they need. Draws nothing.

use std::ops::Range;

/// Boxes by the shaders they need.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parted {
    pub plain: Vec<Range<u32>>,
    pub special: Vec<Range<u32>>,
}

impl Parted {
    /// All of them are special where `marks` are not given; otherwise those that are in `marks`, which ascend.
    pub fn new(ranges: &[Range<u32>], marks: Option<[u32; 2]>) -> Parted {
        let Some(marks) = marks else { return Parted { plain: Vec::new(), special: ranges.to_vec() } };
        let mut parted = Parted::default();
        for range in ranges {
            let mut from = range.start;
            for mark in marks.into_iter().filter(|mark| range.contains(mark)) {
                if from <= mark {
                    parted.plain.extend(Some(from..mark).filter(|before| !before.is_empty()));
                    parted.special.push(mark..mark + 1);
                    from = mark + 1;
                }
            }
            parted.plain.extend(Some(from..range.end).filter(|rest| !rest.is_empty()));
        }
        parted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_boxes_alone_need_the_shaders_that_look_for_marks() {
        let ranges = [3..6, 8..9, 10..14];
        for first in 2..16 {
            for second in first..16 {
                let parted = Parted::new(&ranges, Some([first, second]));
                let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
                let (special, plain): (Vec<u32>, Vec<u32>) = all.iter().partition(|&&b| b == first || b == second);
                assert_eq!(parted.special.iter().cloned().flatten().collect::<Vec<_>>(), special, "{first} {second}");
                assert_eq!(parted.plain.iter().cloned().flatten().collect::<Vec<_>>(), plain, "{first} {second}");
                assert!(parted.plain.iter().chain(&parted.special).all(|range| !range.is_empty()));
            }
        }
        let unknown = Parted::new(&ranges, None);
        assert_eq!((unknown.plain.len(), unknown.special.len()), (0, 3));
    }
}
