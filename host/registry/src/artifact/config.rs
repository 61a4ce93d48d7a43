//! The config of a component's manifest: its imports and exports.

use serde::Serialize;
use wasmparser::{Encoding, Parser, Payload};

use super::ArtifactError;
use crate::Digest;

/// The config that describes a component.
///
/// The specification's `created` and `author` are left out: the same bytes give the same config,
/// and so the same digest of the manifest.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Config {
    architecture: &'static str,
    os: &'static str,
    layer_digests: [Digest; 1],
    component: Component,
}

#[derive(Debug, Default, Serialize, PartialEq, Eq)]
struct Component {
    exports: Vec<String>,
    imports: Vec<String>,
}

impl Config {
    /// Describes the component with these bytes and this digest.
    pub(crate) fn of(bytes: &[u8], digest: Digest) -> Result<Self, ArtifactError> {
        Ok(Self {
            architecture: "wasm",
            os: "wasip2",
            layer_digests: [digest],
            component: Component::of(bytes)?,
        })
    }
}

impl Component {
    fn of(bytes: &[u8]) -> Result<Self, ArtifactError> {
        let broken = |error: wasmparser::BinaryReaderError| {
            ArtifactError::Bytes(format!("the file is not WebAssembly: {error}"))
        };
        let mut component = Self::default();
        // Of components in it, only the outermost one's names count.
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(broken)? {
                Payload::Version {
                    encoding: Encoding::Module,
                    ..
                } if depth == 0 => {
                    let problem = "the file is a core module; only components can be published";
                    return Err(ArtifactError::Bytes(problem.to_owned()));
                }
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        component
                            .imports
                            .push(import.map_err(broken)?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        component
                            .exports
                            .push(export.map_err(broken)?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outer_components_names_are_listed() {
        let bytes = wat::parse_str(
            r#"(component
                (import "a:b/c@1.0.0" (instance))
                (component (export "inner" (instance 0)) (instance))
                (core module)
                (instance $i)
                (export "d:e/f" (instance $i))
            )"#,
        );
        let component = Component::of(&bytes.unwrap()).unwrap();
        assert_eq!(component.imports, ["a:b/c@1.0.0"]);
        assert_eq!(component.exports, ["d:e/f"]);
    }

    #[test]
    fn other_files_are_refused() {
        let module = Component::of(&wat::parse_str("(module)").unwrap());
        assert_eq!(
            module.unwrap_err().to_string(),
            "the file is a core module; only components can be published"
        );
        for bytes in [
            &b""[..],
            b"\0asm",
            b"#!/bin/sh\n",
            b"\0asm\x0d\0\x01\0\x07\xff",
        ] {
            let message = Component::of(bytes).unwrap_err().to_string();
            assert!(
                message.starts_with("the file is not WebAssembly: "),
                "{message}"
            );
        }
    }
}
