//! What grows most, and what keeps it alive.
