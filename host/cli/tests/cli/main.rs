//! The real program, as a shell runs it, with real guests.

mod airlock;
mod basics;
mod decisions;
mod exit_codes;
mod inspect;
mod json;
mod params;
mod terminal;
mod text;
