//! From a heap state to a memory tree: classifiers and multi-level grouping.
