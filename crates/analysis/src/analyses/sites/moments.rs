//! Words for the points in time at which samples are alive: walks follow roots, estimates know the objects that collections freed.

/// Words for the points in time at which samples are alive.
pub(super) struct MomentTexts {
    /// The noun for such a point.
    pub(super) noun: &'static str,
    /// The samples that are alive in the last of them.
    pub(super) alive: &'static str,
    /// The verb for a place that grows to the end.
    pub(super) leaks: &'static str,
    /// Its meaning.
    pub(super) meant: &'static str,
    /// The meaning of growth.
    pub(super) growth: &'static str,
    /// The quality of the estimates, after their description, and for recordings of every allocation.
    pub(super) note: &'static str,
    pub(super) exact: &'static str,
}

const NO_WALKS: &str = "there are no walks, so what nothing holds any more counts as alive until a collection frees it";

/// Walks follow roots, so they know the live objects.
pub(super) const WALKS: MomentTexts = MomentTexts {
    noun: "walk",
    alive: "Samples whose objects some root reaches in the last walk",
    leaks: "allocates what stays",
    meant: "",
    growth: "The same from the first walk to the last",
    note: "what walks count is exact",
    exact: "what is said of places is exact",
};

/// A recording without walks knows the objects that collections have freed, and no more than that.
pub(super) const ESTIMATES: MomentTexts = MomentTexts {
    noun: "estimate",
    alive: "Samples whose objects no collection was found to have freed by the last estimate",
    leaks: "allocates what no collection has freed so far",
    meant: ". That stays, or waits for a collection of the old generation",
    growth: "The same from the first estimate to the last",
    note: NO_WALKS,
    exact: NO_WALKS,
};
