#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| airlock_tests::fuzz::rendering(bytes));
