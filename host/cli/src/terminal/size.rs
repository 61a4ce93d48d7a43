//! Formatting numbers.

const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// Formats a size for people, with two digits if the number is small.
pub fn human(bytes: u64) -> String {
    match bytes {
        1 => return "1 byte".to_owned(),
        0..1024 => return format!("{bytes} bytes"),
        _ => {}
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size < 10.0 {
        format!("{size:.1} {}", UNITS[unit])
    } else {
        format!("{size:.0} {}", UNITS[unit])
    }
}

/// Formats a number of things, which have a regular plural.
pub fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Formats a number with thousands separators.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_their_unit() {
        let check = |bytes, expected| assert_eq!(human(bytes), expected);
        check(0, "0 bytes");
        check(1, "1 byte");
        check(1023, "1023 bytes");
        check(1024, "1.0 KiB");
        check(1536, "1.5 KiB");
        check(100 << 10, "100 KiB");
        check(3 << 20, "3.0 MiB");
        check(u64::MAX, "16384 PiB");
    }

    #[test]
    fn long_numbers_are_grouped() {
        let check = |number, expected| assert_eq!(thousands(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1234567, "1,234,567");
    }
}
