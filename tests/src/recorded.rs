//! Numbers that a test finds, and the repository keeps in a file: none of them changes unannounced.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Each with what it is of.
pub type Numbers = BTreeMap<String, u64>;

/// How much more than was recorded is no growth.
#[derive(Debug, Clone, Copy)]
pub struct Tolerated {
    /// Percent of what was recorded.
    pub percent: u64,
    /// However little was recorded.
    pub always: u64,
    /// Whether what has become less by more than that is told too.
    pub less_is_told: bool,
}

/// Compares the numbers with those in the file, or writes them there with `UPDATE_EXPECT=1`. The
/// file's first line is a comment that says `about`.
///
/// # Panics
/// Where one of them has grown by more than is tolerated, and where one is on one side alone.
pub fn check(file: &Path, about: &str, now: &Numbers, tolerated: Tolerated) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, table(about, now)).unwrap();
    }
    let recorded = fs::read_to_string(file);
    let recorded = recorded.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let differences = differences(&read(&recorded), now, tolerated);
    assert!(
        differences.is_empty(),
        "{} has other numbers:\n{}\nif that is meant, UPDATE_EXPECT=1 before the test records it",
        file.display(),
        differences.join("\n")
    );
}

fn table(about: &str, numbers: &Numbers) -> String {
    let mut text = format!("# {about}\n");
    for (name, number) in numbers {
        writeln!(text, "{name} {number}").unwrap();
    }
    text
}

fn read(text: &str) -> Numbers {
    let row = |line: &str| {
        let (name, number) = line.rsplit_once(' ').expect("a name and a number");
        (name.to_owned(), number.parse().expect("a number"))
    };
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(row).collect()
}

fn differences(recorded: &Numbers, now: &Numbers, tolerated: Tolerated) -> Vec<String> {
    let changed = now.iter().filter_map(|(name, number)| {
        let Some(before) = recorded.get(name) else {
            return Some(format!("{name}: {number}, which is not recorded"));
        };
        // Compared in hundredths, so that nothing is rounded away.
        let room = (before * tolerated.percent).max(tolerated.always * 100);
        let is_told = *number > *before || tolerated.less_is_told;
        let differs = is_told && number.abs_diff(*before) * 100 > room;
        differs.then(|| format!("{name}: {number}; {before} were recorded"))
    });
    let gone = recorded.keys().filter(|name| !now.contains_key(*name));
    changed
        .chain(gone.map(|name| format!("{name}: it is recorded, and not there any more")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_what_is_on_one_side_alone_are_told() {
        let of = |rows: &[(&str, u64)]| {
            let rows = rows.iter();
            rows.map(|(name, number)| ((*name).to_owned(), *number))
                .collect::<Numbers>()
        };
        let before = of(&[
            ("as it was", 1000),
            ("less", 1000),
            ("more", 1000),
            ("small", 1),
            ("gone", 1),
        ]);
        assert_eq!(read(&table("Numbers.", &before)), before);
        let now = of(&[
            ("as it was", 1100),
            ("less", 899),
            ("more", 1101),
            ("small", 3),
            ("new", 1),
        ]);
        let more = "more: 1101; 1000 were recorded";
        let new = "new: 1, which is not recorded";
        let gone = "gone: it is recorded, and not there any more";
        let check = |always, less_is_told, expected: &[&str]| {
            let tolerated = Tolerated {
                percent: 10,
                always,
                less_is_told,
            };
            assert_eq!(differences(&before, &now, tolerated), expected);
        };
        check(2, false, &[more, new, gone]);
        check(1, false, &[more, new, "small: 3; 1 were recorded", gone]);
        check(2, true, &["less: 899; 1000 were recorded", more, new, gone]);
    }
}
