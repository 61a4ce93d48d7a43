//! Later.

fn main() {}
