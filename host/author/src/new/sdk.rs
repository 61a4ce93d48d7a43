//! The SDK reference of a project: to its own folder or to a checkout.

use std::path::{Path, PathBuf};

use airlock_render::shell;
use anyhow::anyhow;

use super::NewLanguage;
use crate::build::sdk::{FOLDER, NODE_ARCHIVE};
use crate::error::Error;

/// A project's reference to an SDK.
pub struct SdkReference {
    /// The requirement in the project's manifest.
    pub requirement: String,
    /// The folder from which the language's own tools install the SDK; only for Python, whose
    /// manifest can't name one.
    pub folder: String,
}

/// Returns a reference to the SDK inside the project, so that the project can be shared.
pub fn within_project(language: NewLanguage) -> SdkReference {
    SdkReference {
        requirement: match language {
            NewLanguage::Rust => format!("{{ path = \"{FOLDER}\" }}"),
            NewLanguage::TypeScript | NewLanguage::JavaScript => format!("\"file:{NODE_ARCHIVE}\""),
            NewLanguage::Go => format!("./{FOLDER}"),
            // These manifests have no field for it.
            NewLanguage::Python | NewLanguage::C => String::new(),
        },
        folder: format!("./{FOLDER}"),
    }
}

/// Returns a reference to an SDK in a checkout by absolute path, for developers of the SDK.
/// Returns `None` for languages whose SDK is embedded in the program, which is built in that
/// checkout too.
///
/// # Errors
/// If the folder is not a checkout, or its SDK is not built.
pub fn within_checkout(
    language: NewLanguage,
    checkout: &Path,
) -> Result<Option<SdkReference>, Error> {
    let folder = match language {
        NewLanguage::Rust => "sdk/rust",
        NewLanguage::TypeScript | NewLanguage::JavaScript => "sdk/ts",
        NewLanguage::Python => "sdk/python",
        NewLanguage::Go | NewLanguage::C => return Ok(None),
    };
    let sdk = find(checkout, folder)?;
    let path = sdk.to_string_lossy();
    let requirement = match language {
        // Formats a TOML string. cargo can't use paths that have no such form.
        NewLanguage::Rust => format!("{{ path = {:?} }}", &*path),
        NewLanguage::TypeScript | NewLanguage::JavaScript => {
            check_built(checkout, &sdk)?;
            // npm uses the path as it is.
            serde_json::Value::from(format!("file:{path}")).to_string()
        }
        _ => String::new(),
    };
    let folder = shell::quote(&path).into_owned();
    Ok(Some(SdkReference {
        requirement,
        folder,
    }))
}

fn find(checkout: &Path, folder: &str) -> Result<PathBuf, Error> {
    let sdk = checkout.join(folder);
    let found = sdk.canonicalize().ok().filter(|sdk| sdk.is_dir());
    found.ok_or_else(|| {
        let error = anyhow!("there is no SDK in {}", sdk.display());
        let hint = "`--sdk` and AIRLOCK_SDK name the folder of a clone of Airlock";
        Error::usage(error).with_advice(hint)
    })
}

/// Checks that the SDK is built: npm links to a folder as it is, so missing build output is missing
/// in the project too.
fn check_built(checkout: &Path, sdk: &Path) -> Result<(), Error> {
    if sdk.join("dist/build/main.js").is_file() {
        return Ok(());
    }
    let script = checkout.join("tests/toolchain/install-node-tools");
    let error = anyhow!("the SDK in {} is not built", sdk.display());
    let hint = format!("build it: {}", shell::quote(&script.to_string_lossy()));
    Err(Error::usage(error).with_advice(hint))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_checkout_takes_the_place_of_what_the_program_brings() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("a clone");
        for sdk in ["rust", "python", "ts/dist/build"] {
            fs::create_dir_all(root.join("sdk").join(sdk)).unwrap();
        }
        fs::write(root.join("sdk/ts/dist/build/main.js"), "").unwrap();
        let named = |language| within_checkout(language, &root).unwrap();
        let check = |language, expected: &str| {
            let place = root.join("sdk").to_string_lossy().into_owned();
            let expected = expected.replace("SDK", &place);
            assert_eq!(named(language).unwrap().requirement, expected);
        };
        check(NewLanguage::Rust, "{ path = \"SDK/rust\" }");
        check(NewLanguage::TypeScript, "\"file:SDK/ts\"");
        check(NewLanguage::JavaScript, "\"file:SDK/ts\"");
        let python = named(NewLanguage::Python).unwrap().folder;
        assert!(python.ends_with("/a clone/sdk/python'"), "{python}");
        assert!(named(NewLanguage::Go).is_none() && named(NewLanguage::C).is_none());
        assert!(within_checkout(NewLanguage::Rust, Path::new("nowhere")).is_err());
    }

    #[test]
    fn an_sdk_that_is_not_built_is_told_with_the_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("sdk/ts")).unwrap();
        let failure = within_checkout(NewLanguage::TypeScript, folder.path())
            .err()
            .unwrap();
        let said = format!("{failure:?}");
        assert!(said.contains("is not built"), "{said}");
        assert!(
            said.contains("/tests/toolchain/install-node-tools"),
            "{said}"
        );
    }
}
