//! Values of options, read from text.

use std::time::{Duration, SystemTime};

use airlock_desk::configuration::Age;
use airlock_host::policy::Rehearse;
use airlock_rules::Size;
use anstream::ColorChoice;
use clap::ValueEnum;

/// The values of `--color`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl From<ColorWhen> for ColorChoice {
    fn from(when: ColorWhen) -> Self {
        match when {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        }
    }
}

/// The values of `--rehearse`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RehearseWhen {
    /// If possible; an action that can't be rehearsed is shown as unverified
    Auto,
    /// If possible, and nothing unverified can be applied
    Always,
    /// Never: the preview is the tool's word alone
    Never,
}

impl From<RehearseWhen> for Rehearse {
    fn from(when: RehearseWhen) -> Self {
        match when {
            RehearseWhen::Auto => Rehearse::Auto,
            RehearseWhen::Always => Rehearse::Always,
            RehearseWhen::Never => Rehearse::Never,
        }
    }
}

/// The time for which decisions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    Forever,
    For(Duration),
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match duration {
        Some(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a number of seconds above 0, such as 90 or 0.5".to_owned()),
    }
}

/// Parses an age: a whole number and its unit.
pub fn age(text: &str) -> Result<Duration, String> {
    parse_age(text)
        .ok_or_else(|| "expected a number and s, m, h, d or w, such as 12h or 30d".to_owned())
}

/// Parses a moment: an age, a day or a time.
pub fn moment(text: &str) -> Result<SystemTime, String> {
    if let Some(age) = parse_age(text) {
        let then = SystemTime::now().checked_sub(age);
        return then.ok_or_else(|| "that is too long ago".to_owned());
    }
    let day = || {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::system()).ok()?.timestamp())
    };
    let time = || text.parse::<jiff::Timestamp>().ok();
    match time().or_else(day) {
        Some(time) => Ok(time.into()),
        None => Err(
            "expected an age such as 12h or 30d, a day such as 2026-11-20, or a moment such as 2026-11-20T09:00:00Z"
                .to_owned(),
        ),
    }
}

pub fn retention(text: &str) -> Result<Retention, String> {
    match text {
        "forever" => Ok(Retention::Forever),
        age => parse_age(age).map(Retention::For).ok_or_else(|| {
            "expected `forever`, or a number and s, m, h, d or w, such as 12h or 30d".to_owned()
        }),
    }
}

/// The limit of a store, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteLimit {
    None,
    Bytes(u64),
}

pub fn byte_limit(text: &str) -> Result<ByteLimit, String> {
    match text {
        "none" => Ok(ByteLimit::None),
        size => parse_size(size).map(ByteLimit::Bytes).ok_or_else(|| {
            "expected `none`, or a number and KiB, MiB, GiB or TiB, such as 500MiB or 4GiB"
                .to_owned()
        }),
    }
}

fn parse_size(text: &str) -> Option<u64> {
    Size::try_from(text.to_owned()).ok().map(|size| size.0)
}

fn parse_age(text: &str) -> Option<Duration> {
    Age::parse(text).map(|age| age.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_positive_number_of_seconds() {
        let check = |text, expected: Option<f64>| {
            assert_eq!(
                seconds(text).ok(),
                expected.map(Duration::from_secs_f64),
                "{text}"
            );
        };
        check("90", Some(90.0));
        check("0.5", Some(0.5));
        check("0", None);
        check("-1", None);
        check("NaN", None);
        check("inf", None);
        check("1e300", None);
        check("soon", None);
    }

    #[test]
    fn a_size_is_a_number_and_its_unit() {
        let check = |text, expected| assert_eq!(byte_limit(text).ok(), expected, "{text}");
        check("none", Some(ByteLimit::None));
        check("4GiB", Some(ByteLimit::Bytes(4 << 30)));
        check("0KiB", Some(ByteLimit::Bytes(0)));
        check("1TiB", Some(ByteLimit::Bytes(1 << 40)));
        for wrong in [
            "",
            "4",
            "GiB",
            "4GB",
            "4 GiB",
            "-1KiB",
            "+1KiB",
            "20000000TiB",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn an_age_is_a_number_and_its_unit() {
        let check = |text, expected: Option<u64>| {
            assert_eq!(age(text).ok(), expected.map(Duration::from_secs), "{text}");
        };
        check("45s", Some(45));
        check("90m", Some(90 * 60));
        check("12h", Some(12 * 3600));
        check("30d", Some(30 * 86400));
        check("2w", Some(14 * 86400));
        check("0s", Some(0));
        check("", None);
        check("d", None);
        check("30", None);
        check("+3d", None);
        check("-3d", None);
        check("1.5h", None);
        check("3 d", None);
        check("3é", None);
        check("forever", None);
        check("40000d", None);
        check("99999999999999999999w", None);
        check("9999999999999999999w", None);
    }

    #[test]
    fn a_retention_is_an_age_or_forever() {
        let check = |text, expected| assert_eq!(retention(text).ok(), expected, "{text}");
        check("forever", Some(Retention::Forever));
        check("1d", Some(Retention::For(Duration::from_secs(86400))));
        check("never", None);
    }
}
