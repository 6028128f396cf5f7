//! The shell on the embedded API, under a paused clock: time passes only when everyone waits, and every run is the same.

mod events;
mod feed;
mod lease;
mod weather;
