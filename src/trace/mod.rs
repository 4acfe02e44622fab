//! From bytes to heap states: one folder per format, behind one trait.
