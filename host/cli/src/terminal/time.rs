//! Formatting times for people.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a time in the user's time zone, to the second: `2026-11-22 09:15:00 +01:00`.
fn local(time: SystemTime) -> String {
    match Timestamp::try_from(time) {
        Ok(time) => {
            let local = time.to_zoned(TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
        }
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// Formats a time, with how long ago it was or in how long it will be.
pub fn moment(time: SystemTime) -> String {
    let from_now = match time.duration_since(SystemTime::now()) {
        Ok(ahead) if ahead > CLOCKS_DIFFER => format!("in {}", length(ahead)),
        _ => ago(time),
    };
    format!("{} ({from_now})", local(time))
}

/// The largest clock difference: a time less far ahead is another clock's now.
const CLOCKS_DIFFER: Duration = Duration::from_secs(30);

/// Formats how long ago a time was.
pub fn ago(time: SystemTime) -> String {
    match SystemTime::now().duration_since(time) {
        Ok(age) if age < Duration::from_secs(1) => "just now".to_owned(),
        Ok(age) => format!("{} ago", length(age)),
        // A clock was set back, or belongs to another machine.
        Err(_) => "just now".to_owned(),
    }
}

const UNITS: [(u64, &str); 5] = [
    (7 * 24 * 3600, "week"),
    (24 * 3600, "day"),
    (3600, "hour"),
    (60, "minute"),
    (1, "second"),
];

/// Formats a duration in the largest unit of which it has at least one.
pub fn length(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let unit = UNITS.iter().find(|(size, _)| seconds >= *size);
    let (size, unit) = unit.unwrap_or(&(1, "second"));
    match seconds / size {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    }
}

/// Formats a duration as an option accepts it, such as `30d`: exact, in the largest unit possible.
pub fn option(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let exact = UNITS
        .iter()
        .find(|(size, _)| seconds >= *size && seconds.is_multiple_of(*size));
    let (size, unit) = exact.unwrap_or(&(1, "second"));
    format!("{}{}", seconds / size, &unit[..1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_told_in_its_largest_unit() {
        let check = |seconds, expected: &str, as_option: &str| {
            let duration = Duration::from_secs(seconds);
            assert_eq!(
                (length(duration), option(duration)),
                (expected.into(), as_option.into())
            );
        };
        check(0, "0 seconds", "0s");
        check(1, "1 second", "1s");
        check(59, "59 seconds", "59s");
        check(60, "1 minute", "1m");
        check(3599, "59 minutes", "3599s");
        check(2 * 3600, "2 hours", "2h");
        check(30 * 86400, "4 weeks", "30d");
        check(14 * 86400, "2 weeks", "2w");
    }

    #[test]
    fn a_moment_to_come_is_told_as_one() {
        let check = |ahead, expected: &str| {
            let told = moment(SystemTime::now() + Duration::from_secs(ahead));
            assert!(told.ends_with(expected), "{told}");
        };
        check(0, "(just now)");
        check(10, "(just now)");
        check(3 * 86400 + 60, "(in 3 days)");
    }

    #[test]
    fn the_future_is_not_an_age() {
        assert_eq!(
            ago(SystemTime::now() + Duration::from_secs(3600)),
            "just now"
        );
        assert_eq!(
            ago(SystemTime::now() - Duration::from_secs(200)),
            "3 minutes ago"
        );
    }
}
