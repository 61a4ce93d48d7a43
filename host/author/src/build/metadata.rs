//! Adds metadata to a component in the standard places of the WebAssembly ecosystem.

use std::borrow::Cow;

use airlock_host::wants::with_wants;
use anyhow::Context;
use wasm_encoder::{ComponentSection, CustomSection};
use wasm_metadata::{AddMetadata, AddMetadataField};
use wasmparser::{BinaryReader, BinaryReaderError};

use super::ProjectInfo;
use super::project::Project;
use super::toolchain::failed;
use crate::error::Error;

/// Adds the name, the language and the SDK as custom sections, the other facts in the form that
/// registries read, and the tool's wants. Removes the names of the component's parts, which no
/// host reads.
///
/// # Errors
/// If the bytes are not a component.
pub fn add(component: Vec<u8>, project: &Project, about: &ProjectInfo) -> Result<Vec<u8>, Error> {
    let mut metadata = AddMetadata::default();
    metadata.name = AddMetadataField::Set(about.name.clone());
    metadata.language = vec![(project.language.title().to_owned(), String::new())];
    metadata.sdk = about
        .sdk
        .iter()
        .map(|(name, version)| ((*name).to_owned(), version.clone()))
        .collect();
    let mut component = without_names(&component)
        .map_err(anyhow::Error::from)
        .and_then(|component| metadata.to_wasm(&component))
        .context("the build output is not a component")
        .map_err(failed)?;
    let mut append = |name: &str, text: &str| {
        let section = CustomSection {
            name: Cow::Borrowed(name),
            data: Cow::Borrowed(text.as_bytes()),
        };
        section.append_to_component(&mut component);
    };
    for (name, fact) in about.about.facts().filter(|(name, _)| *name != "name") {
        append(name, fact);
    }
    Ok(match &project.manifest.wants {
        Some(wants) => with_wants(component, wants),
        None => component,
    })
}

/// Length of the magic number and the version before the first section.
const HEADER: usize = 8;

fn without_names(component: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut kept = BinaryReader::new(component, 0).read_bytes(HEADER)?.to_vec();
    let mut sections = BinaryReader::new(&component[HEADER..], HEADER);
    while !sections.eof() {
        let start = sections.current_position();
        let id = sections.read_u8()?;
        let content = sections.read_reader()?;
        let section = &component[HEADER + start..HEADER + sections.current_position()];
        if id != 0 || content.clone().read_string()? != "component-name" {
            kept.extend_from_slice(section);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use airlock_host::wants::About;
    use wasm_metadata::Producers;

    use super::*;
    use crate::build::manifest::Manifest;
    use crate::build::project::Language;

    fn project(language: Language, manifest: &str) -> Project {
        Project {
            folder: PathBuf::from("rename"),
            language,
            manifest: toml::from_str::<Manifest>(manifest).unwrap(),
        }
    }

    fn add(component: Vec<u8>, project: &Project) -> Result<Vec<u8>, Error> {
        let sdk = Some(("airlock-tool-c", "0.1.0".to_owned()));
        super::add(component, project, &project.info(About::default(), sdk))
    }

    #[test]
    fn a_component_says_what_it_is_and_what_it_wants() {
        let manifest = "version = '1.2.3'\nauthors = ['Ann', 'Bob']\n[wants]\nchange = ['docs/']\nreal-time = true";
        let empty = b"\0asm\x0d\0\x01\0".to_vec();
        let component = add(empty, &project(Language::C, manifest)).unwrap();
        let producers = Producers::from_wasm(&component).unwrap().unwrap();
        let sdk = producers.get("sdk").unwrap();
        assert_eq!(sdk.get("airlock-tool-c"), Some(&"0.1.0".to_owned()));
        assert!(producers.get("language").unwrap().get("C").is_some());
        let has = |text: &[u8]| component.windows(text.len()).any(|it| it == text);
        assert!(has(b"\x07version1.2.3"));
        assert!(has(b"\x07authorsAnn, Bob"));
        let wants = br#"airlock:wants{"change":["docs/"],"real-time":true}"#;
        assert!(component.ends_with(wants));
        let names = component.windows(6).filter(|bytes| bytes == b"rename");
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn the_names_of_a_components_parts_are_left_out() {
        let mut named = b"\0asm\x0d\0\x01\0".to_vec();
        let mut names = wasm_encoder::ComponentNameSection::new();
        let mut functions = wasm_encoder::NameMap::new();
        functions.append(0, "indirect-push");
        names.core_funcs(&functions);
        names.append_to_component(&mut named);
        let component = add(named, &project(Language::Rust, "")).unwrap();
        let has = |text: &[u8]| component.windows(text.len()).any(|it| it == text);
        assert!(has(b"rename"));
        assert!(!has(b"indirect-push"));
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let failure = add(b"#!/bin/sh".to_vec(), &project(Language::C, "")).unwrap_err();
        let message = failure.to_string();
        assert!(
            message.contains("the build output is not a component"),
            "{message}"
        );
    }
}
