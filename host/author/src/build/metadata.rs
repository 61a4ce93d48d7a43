//! What a component says about itself, where tools of the WebAssembly world look for it.

use std::borrow::Cow;

use anyhow::Context;
use wasm_encoder::{ComponentSection, CustomSection};
use wasm_metadata::{AddMetadata, AddMetadataField};

use super::ProjectInfo;
use super::project::Language;
use super::toolchain::failed;
use crate::error::Error;

/// Adds the name, the language and the SDK as custom sections of their own kinds, and the version
/// as registries read it.
///
/// # Errors
/// If the bytes are no component.
pub fn add(component: Vec<u8>, language: Language, about: &ProjectInfo) -> Result<Vec<u8>, Error> {
    let mut metadata = AddMetadata::default();
    metadata.name = AddMetadataField::Set(about.name.clone());
    metadata.language = vec![(language.title().to_owned(), String::new())];
    metadata.sdk = about
        .sdk
        .iter()
        .map(|(name, version)| ((*name).to_owned(), version.clone()))
        .collect();
    let mut component = metadata
        .to_wasm(&component)
        .context("the build output is not a component")
        .map_err(failed)?;
    if let Some(version) = &about.version {
        let section = CustomSection {
            name: Cow::Borrowed("version"),
            data: Cow::Borrowed(version.as_bytes()),
        };
        section.append_to_component(&mut component);
    }
    Ok(component)
}

#[cfg(test)]
mod tests {
    use wasm_metadata::Producers;

    use super::*;

    #[test]
    fn a_component_says_what_it_is() {
        let about = ProjectInfo {
            name: "rename".to_owned(),
            version: Some("1.2.3".to_owned()),
            sdk: Some(("airlock-tool-c", "0.1.0".to_owned())),
        };
        let empty = b"\0asm\x0d\0\x01\0".to_vec();
        let component = add(empty, Language::C, &about).unwrap();
        let producers = Producers::from_wasm(&component).unwrap().unwrap();
        let sdk = producers.get("sdk").unwrap();
        assert_eq!(sdk.get("airlock-tool-c"), Some(&"0.1.0".to_owned()));
        assert!(producers.get("language").unwrap().get("C").is_some());
        let names = component.windows(6).filter(|bytes| bytes == b"rename");
        assert_eq!(names.count(), 1);
        assert!(component.ends_with(b"\x07version1.2.3"));
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let about = ProjectInfo {
            name: "rename".to_owned(),
            version: None,
            sdk: None,
        };
        let failure = add(b"#!/bin/sh".to_vec(), Language::C, &about).unwrap_err();
        let message = failure.to_string();
        assert!(
            message.contains("the build output is not a component"),
            "{message}"
        );
    }
}
