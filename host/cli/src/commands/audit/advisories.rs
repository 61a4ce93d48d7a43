//! Known advisories about the runtime of plugins. They are part of this program, and
//! `tests/advisories` renews them for a release.

use airlock_host::compile::{CRANELIFT_VERSION, WASMTIME_VERSION};
use semver::{Version, VersionReq};
use serde::Deserialize;

use crate::documents::audit::{AdvisoryReport, Runtime};
use crate::documents::doctor::Check;
use crate::failure::Failure;

const KNOWN: &str = include_str!("../../../advisories.json");

/// The known advisories.
#[derive(Debug, Deserialize)]
pub struct Advisories {
    /// The date of the list.
    snapshot: String,
    advisories: Vec<Advisory>,
}

#[derive(Debug, Deserialize)]
struct Advisory {
    id: String,
    #[serde(rename = "crate")]
    package: String,
    title: String,
    date: String,
    patched: Vec<VersionReq>,
    unaffected: Vec<VersionReq>,
}

/// The versions of the two families of crates. The crates of each share one version.
struct Versions {
    wasmtime: Version,
    cranelift: Version,
}

impl Advisories {
    /// Reads the advisories that are part of this program.
    ///
    /// # Errors
    /// If they can't be read, which a test rules out.
    pub fn known() -> Result<Self, Failure> {
        let read = serde_json::from_str(KNOWN);
        read.map_err(|error| Failure::host(format!("can't read the advisories: {error}")))
    }

    /// Compares the advisories with the versions that this program was built with.
    ///
    /// # Errors
    /// If a version can't be read.
    pub fn runtime(&self) -> Result<Runtime, Failure> {
        let versions = Versions::new(WASMTIME_VERSION, CRANELIFT_VERSION)?;
        Ok(Runtime {
            advisories: self.about(&versions).map(Advisory::report).collect(),
            cranelift: versions.cranelift.to_string(),
            known: self.advisories.len(),
            snapshot: self.snapshot.clone(),
            wasmtime: versions.wasmtime.to_string(),
        })
    }

    fn about(&self, versions: &Versions) -> impl Iterator<Item = &Advisory> {
        let all = self.advisories.iter();
        all.filter(|it| it.affects(versions.of(&it.package)))
    }
}

impl Advisory {
    fn affects(&self, version: &Version) -> bool {
        let mut safe = self.patched.iter().chain(&self.unaffected);
        !safe.any(|it| it.matches(version))
    }

    fn report(&self) -> AdvisoryReport {
        AdvisoryReport {
            package: self.package.clone(),
            date: self.date.clone(),
            id: self.id.clone(),
            patched: self.patched.iter().map(VersionReq::to_string).collect(),
            title: self.title.clone(),
        }
    }
}

impl Versions {
    fn new(wasmtime: &str, cranelift: &str) -> Result<Self, Failure> {
        let version = |text: &str| {
            // A commit may follow, which is no earlier version.
            let released = text.split('-').next().unwrap_or(text);
            Version::parse(released)
                .map_err(|error| Failure::host(format!("{text:?} is not a version: {error}")))
        };
        Ok(Self {
            wasmtime: version(wasmtime)?,
            cranelift: version(cranelift)?,
        })
    }

    fn of(&self, package: &str) -> &Version {
        match package.split('-').next() {
            Some("cranelift") => &self.cranelift,
            _ => &self.wasmtime,
        }
    }
}

/// Returns the finding for each advisory, or one if there is none.
pub fn checks(runtime: &Runtime) -> Vec<Check> {
    let (wasmtime, snapshot) = (&runtime.wasmtime, &runtime.snapshot);
    if runtime.advisories.is_empty() {
        let known = runtime.known;
        return vec![Check::well(
            "wasmtime",
            format!(
                "wasmtime {wasmtime}: none of the {known} advisories known on {snapshot} affects it"
            ),
        )];
    }
    let checks = runtime.advisories.iter().map(|advisory| {
        let AdvisoryReport {
            id, package, title, ..
        } = advisory;
        let patched = match advisory.patched.join(" or ") {
            none if none.is_empty() => "no version is patched".to_owned(),
            patched => format!("patched in {patched}"),
        };
        let text = format!("wasmtime {wasmtime}: {id}, {title} ({package}; {patched})");
        let failure = Failure::host(text);
        Check::wrong("wasmtime", &failure.with_hint("update Airlock"))
    });
    checks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::doctor::CheckState;

    fn ids(wasmtime: &str, cranelift: &str) -> Vec<String> {
        let versions = Versions::new(wasmtime, cranelift).unwrap();
        let known = Advisories::known().unwrap();
        known.about(&versions).map(|it| it.id.clone()).collect()
    }

    #[test]
    fn an_affected_version_is_found_in_the_known_advisories() {
        let found = ids("36.0.0", "0.123.0");
        // In wasmtime, and in wasmtime-wasi.
        for id in ["RUSTSEC-2025-0118", "RUSTSEC-2026-0149"] {
            assert!(found.iter().any(|it| it == id), "{id}: {found:?}");
        }
        // A crate of Cranelift has the version of that family.
        let found = ids("48.0.8", "0.73.0");
        assert_eq!(found, ["RUSTSEC-2021-0067"]);
    }

    #[test]
    fn patched_and_unaffected_versions_are_not_found() {
        let check = |version: &str, expected: bool| {
            let advisory = Advisory {
                id: "RUSTSEC-0000-0000".to_owned(),
                package: "wasmtime".to_owned(),
                title: "It crashes".to_owned(),
                date: "2026-01-01".to_owned(),
                patched: [">= 36.0.7, < 37.0.0", ">= 42.0.2"]
                    .map(|it| VersionReq::parse(it).unwrap())
                    .to_vec(),
                unaffected: vec![VersionReq::parse("< 30.0.0").unwrap()],
            };
            let version = Version::parse(version).unwrap();
            assert_eq!(advisory.affects(&version), expected, "{version}");
        };
        check("29.9.9", false);
        check("30.0.0", true);
        check("36.0.6", true);
        check("36.0.7", false);
        check("37.0.0", true);
        check("42.0.1", true);
        check("42.0.2", false);
        check("48.0.8", false);
    }

    #[test]
    fn a_commit_behind_a_version_makes_it_no_earlier_one() {
        let versions = Versions::new("48.0.8", "0.135.8-0123abcde").unwrap();
        assert_eq!(versions.of("cranelift-codegen"), &Version::new(0, 135, 8));
        assert_eq!(versions.of("wasmtime-wasi"), &Version::new(48, 0, 8));
    }

    #[test]
    fn each_advisory_about_a_version_is_wrong_and_none_is_well() {
        let known = Advisories::known().unwrap();
        let mut runtime = known.runtime().unwrap();
        let versions = Versions::new("36.0.0", "0.123.0").unwrap();
        runtime.wasmtime = "36.0.0".to_owned();
        runtime.advisories = known.about(&versions).map(Advisory::report).collect();
        let found = checks(&runtime);
        assert_eq!(found.len(), runtime.advisories.len());
        assert!(found.iter().all(|it| it.state == CheckState::Wrong));
        let text = &found[0].text;
        assert!(
            text.contains("RUSTSEC-") && text.contains("patched in"),
            "{text}"
        );
        runtime.advisories.clear();
        let found = checks(&runtime);
        assert_eq!((found.len(), found[0].state), (1, CheckState::Well));
    }
}
