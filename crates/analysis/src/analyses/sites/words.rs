//! What is said of the points in time at which samples are alive: walks follow roots, estimates know what collections freed.

/// What is said of the points in time at which samples are alive.
pub(super) struct MomentWords {
    /// What such a point is.
    pub(super) noun: &'static str,
    /// Which samples are alive in the last of them.
    pub(super) alive: &'static str,
    /// What a place does that grows to the end.
    pub(super) leaks: &'static str,
    /// What is meant by it.
    pub(super) meant: &'static str,
    /// What growth is.
    pub(super) growth: &'static str,
    /// On how good that is, behind what is said of estimates, and where every allocation was recorded.
    pub(super) note: &'static str,
    pub(super) exact: &'static str,
}

const NO_WALKS: &str = "there are no walks, so what nothing holds any more counts as alive until a collection frees it";

/// In walks roots are followed: what is alive there is.
pub(super) const WALKS: MomentWords = MomentWords {
    noun: "walk",
    alive: "Samples whose objects some root reaches in the last walk",
    leaks: "allocates what stays",
    meant: "",
    growth: "The same from the first walk to the last",
    note: "what walks count is exact",
    exact: "what is said of places is exact",
};

/// Of a recording without walks it is known what collections have freed, and no more than that.
pub(super) const ESTIMATES: MomentWords = MomentWords {
    noun: "estimate",
    alive: "Samples whose objects no collection was found to have freed by the last estimate",
    leaks: "allocates what no collection has freed so far",
    meant: ". That stays, or waits for a collection of the old generation",
    growth: "The same from the first estimate to the last",
    note: NO_WALKS,
    exact: NO_WALKS,
};
