//! How a project names its SDK: as it is published, or in a checkout.

use std::path::Path;

use crate::args::NewLanguage;
use crate::failure::Failure;

/// The line, or the part of one, that stands in a project for its SDK.
///
/// # Errors
/// Where the checkout is none.
pub fn of(language: NewLanguage, checkout: Option<&Path>) -> Result<String, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let Some(checkout) = checkout else {
        return Ok(match language {
            NewLanguage::Rust => format!("\"{version}\""),
            // What `airlock build` brings along needs no more.
            NewLanguage::Go | NewLanguage::C => String::new(),
        });
    };
    let folder = match language {
        NewLanguage::Rust => "sdk/rust",
        NewLanguage::Go => "sdk/go",
        NewLanguage::C => "sdk/c",
    };
    let sdk = checkout.join(folder);
    let found = sdk.canonicalize().ok().filter(|sdk| sdk.is_dir());
    let Some(sdk) = found else {
        let message = format!("there is no SDK in {}", sdk.display());
        let hint = "`--sdk` and AIRLOCK_SDK name the folder of a clone of Airlock";
        return Err(Failure::usage(message).with_hint(hint));
    };
    // As a TOML string; paths that have no such form are none that cargo takes.
    let quoted = format!("{:?}", sdk.to_string_lossy());
    Ok(match language {
        NewLanguage::Rust => format!("{{ path = {quoted} }}"),
        NewLanguage::Go => format!("\nreplace github.com/airlock-dev/airlock/sdk/go => {quoted}\n"),
        NewLanguage::C => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_takes_the_place_of_what_is_published() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let rust = of(NewLanguage::Rust, Some(&root)).unwrap();
        assert!(
            rust.starts_with("{ path = \"/") && rust.ends_with("/sdk/rust\" }"),
            "{rust}"
        );
        let go = of(NewLanguage::Go, Some(&root)).unwrap();
        assert!(go.contains("/sdk/go => \"/"), "{go}");
        assert_eq!(of(NewLanguage::C, Some(&root)).unwrap(), "");
        assert_eq!(of(NewLanguage::Go, None).unwrap(), "");
        assert!(of(NewLanguage::Rust, Some(Path::new("nowhere"))).is_err());
    }
}
