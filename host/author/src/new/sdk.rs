//! How a project names its SDK: as it is published, or in a checkout.

use std::path::{Path, PathBuf};

use airlock_render::shell;
use anyhow::anyhow;

use super::NewLanguage;
use crate::error::Error;

/// The line, or the part of one, that stands in a project for its SDK.
///
/// # Errors
/// Where the checkout is none, or its SDK is not built.
pub fn of(language: NewLanguage, checkout: Option<&Path>) -> Result<String, Error> {
    match checkout {
        None => Ok(published(language)),
        Some(checkout) => within(language, checkout),
    }
}

fn published(language: NewLanguage) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match language {
        NewLanguage::Rust => format!("\"{version}\""),
        NewLanguage::TypeScript | NewLanguage::JavaScript => format!("\"^{version}\""),
        NewLanguage::Python => format!("\"airlock-tool~={version}\""),
        // `airlock build` writes it there.
        NewLanguage::Go => "\nreplace airlock-tool => ./build/generated/sdk\n".to_owned(),
        // What `airlock build` brings along needs no more.
        NewLanguage::C => String::new(),
    }
}

fn within(language: NewLanguage, checkout: &Path) -> Result<String, Error> {
    let folder = match language {
        NewLanguage::Rust => "sdk/rust",
        NewLanguage::TypeScript | NewLanguage::JavaScript => "sdk/ts",
        NewLanguage::Python => "sdk/python",
        NewLanguage::Go => "sdk/go",
        NewLanguage::C => "sdk/c",
    };
    let sdk = find(checkout, folder)?;
    let path = sdk.to_string_lossy();
    // As a TOML string; paths that have no such form are none that cargo takes.
    let quoted = format!("{path:?}");
    Ok(match language {
        NewLanguage::Rust => format!("{{ path = {quoted} }}"),
        NewLanguage::TypeScript | NewLanguage::JavaScript => {
            check_built(checkout, &sdk)?;
            // npm takes the path as it is.
            serde_json::Value::from(format!("file:{path}")).to_string()
        }
        NewLanguage::Python => format!("\"airlock-tool @ file://{}\"", escape(&path)),
        NewLanguage::Go => format!("\nreplace airlock-tool => {quoted}\n"),
        NewLanguage::C => String::new(),
    })
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

/// npm links to a folder as it is: what is not built there is missing in the project.
fn check_built(checkout: &Path, sdk: &Path) -> Result<(), Error> {
    if sdk.join("dist/build/main.js").is_file() {
        return Ok(());
    }
    let script = checkout.join("tests/toolchain/install-node-tools");
    let error = anyhow!("the SDK in {} is not built", sdk.display());
    let hint = format!("build it: {}", shell::quote(&script.to_string_lossy()));
    Err(Error::usage(error).with_advice(hint))
}

/// A path, as it stands in a URL.
fn escape(path: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes()
        .map(|byte| match harmless(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_checkout_takes_the_place_of_what_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("a clone");
        for sdk in ["rust", "go", "c", "python", "ts/dist/build"] {
            fs::create_dir_all(root.join("sdk").join(sdk)).unwrap();
        }
        fs::write(root.join("sdk/ts/dist/build/main.js"), "").unwrap();
        let check = |language, expected: &str| {
            let place = root.join("sdk").to_string_lossy().into_owned();
            let expected = expected.replace("SDK", &place);
            assert_eq!(of(language, Some(&root)).unwrap(), expected);
        };
        check(NewLanguage::Rust, "{ path = \"SDK/rust\" }");
        check(NewLanguage::TypeScript, "\"file:SDK/ts\"");
        check(NewLanguage::JavaScript, "\"file:SDK/ts\"");
        check(NewLanguage::Go, "\nreplace airlock-tool => \"SDK/go\"\n");
        check(NewLanguage::C, "");
        let python = of(NewLanguage::Python, Some(&root)).unwrap();
        assert!(python.starts_with("\"airlock-tool @ file:///"), "{python}");
        assert!(python.ends_with("/a%20clone/sdk/python\""), "{python}");
        assert!(of(NewLanguage::Rust, Some(Path::new("nowhere"))).is_err());
    }

    #[test]
    fn what_is_published_is_named_with_its_version() {
        let check = |language, expected: &str| {
            let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
            assert_eq!(of(language, None).unwrap(), expected);
        };
        check(NewLanguage::Rust, "\"VERSION\"");
        check(NewLanguage::TypeScript, "\"^VERSION\"");
        check(NewLanguage::Python, "\"airlock-tool~=VERSION\"");
        check(
            NewLanguage::Go,
            "\nreplace airlock-tool => ./build/generated/sdk\n",
        );
    }

    #[test]
    fn an_sdk_that_is_not_built_is_told_with_the_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("sdk/ts")).unwrap();
        let failure = of(NewLanguage::TypeScript, Some(folder.path())).unwrap_err();
        let said = format!("{failure:?}");
        assert!(said.contains("is not built"), "{said}");
        assert!(
            said.contains("/tests/toolchain/install-node-tools"),
            "{said}"
        );
    }
}
