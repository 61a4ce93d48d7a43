#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| airlock_workspace::fuzz::workspace_private(bytes));
