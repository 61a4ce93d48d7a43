//! Signatures that belong to a component, as files. Nothing here verifies one.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::Deserialize;

use crate::Error;

/// The most bytes of a signature's file: 1 MiB.
pub const MAX_SIGNATURE_BYTES: u64 = 1 << 20;

/// The media type of a new Sigstore bundle that doesn't name its own.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The media type of a minisign signature. It is Airlock's own: minisign has none.
const MINISIGN: &str = "application/vnd.airlock.minisign.v1";

/// A signature that was found. Nothing about it was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSignature {
    /// The format that its place promises. The bytes may be something else.
    pub format: SignatureFormat,
    /// The whole file, of at most [`MAX_SIGNATURE_BYTES`].
    pub bytes: Bytes,
    /// The place for messages: the digest of its manifest, its URL or its path.
    pub place: String,
}

/// The format of a signature's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignatureFormat {
    /// A bundle of Sigstore, in JSON.
    SigstoreBundle,
    /// The file that `minisign -S` writes.
    Minisign,
}

impl SignatureFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::SigstoreBundle, Self::Minisign];

    /// Returns the ending that the signature of a file adds to the file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::SigstoreBundle => ".sigstore.json",
            Self::Minisign => ".minisig",
        }
    }

    /// The format with this media type. A bundle may have any version: the verifier knows which
    /// ones it reads.
    pub(crate) fn of_media_type(media_type: &str) -> Option<Self> {
        let media_type = media_type.to_ascii_lowercase().replace(' ', "");
        if media_type == MINISIGN {
            return Some(Self::Minisign);
        }
        let rest = media_type.strip_prefix("application/vnd.dev.sigstore.bundle")?;
        let version = match rest.strip_prefix("+json;version=") {
            Some(version) => version,
            None => rest.strip_prefix(".v")?.strip_suffix("+json")?,
        };
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let is_version = version.split('.').count() <= 3 && version.split('.').all(is_number);
        is_version.then_some(Self::SigstoreBundle)
    }

    /// The media type under which `file` is attached: a bundle's own one, if it is known.
    pub(crate) fn media_type(self, file: &[u8]) -> String {
        match self {
            Self::Minisign => MINISIGN.to_owned(),
            Self::SigstoreBundle => {
                let bundle = serde_json::from_slice(file);
                let own = bundle.ok().and_then(|it: Bundle| it.media_type);
                let own = own.filter(|it| Self::of_media_type(it) == Some(self));
                own.unwrap_or_else(|| BUNDLE.to_owned())
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: Option<String>,
}

/// Reads the signatures next to a file on disk: those that [`SignatureFormat::suffix`] names.
///
/// It doesn't matter whether the file itself exists.
/// A signature that can't be read is left out if there is another one.
///
/// # Errors
///
/// If no signature could be read, and one of them is there: because the system refuses it, it isn't
/// a regular file, or it is larger than [`MAX_SIGNATURE_BYTES`].
pub fn signatures_next_to_file(file: &Path) -> Result<Vec<FoundSignature>, Error> {
    readable(SignatureFormat::ALL.map(|format| {
        let mut path = file.as_os_str().to_owned();
        path.push(format.suffix());
        read(PathBuf::from(path), format)
    }))
}

/// The signatures that could be read. If there are none, the first error.
pub(crate) fn readable(
    signatures: impl IntoIterator<Item = Result<Option<FoundSignature>, Error>>,
) -> Result<Vec<FoundSignature>, Error> {
    let (mut found, mut first_error) = (Vec::new(), None);
    for signature in signatures {
        match signature {
            Ok(signature) => found.extend(signature),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match first_error {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn read(path: PathBuf, format: SignatureFormat) -> Result<Option<FoundSignature>, Error> {
    let place = path.display().to_string();
    let bytes = match read_bounded(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(too_large(place)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Signature { path, source }),
    };
    Ok(Some(FoundSignature {
        format,
        bytes: bytes.into(),
        place,
    }))
}

/// The bytes of a file, or `None` if there are too many.
fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would wait for a writer.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(MAX_SIGNATURE_BYTES + 1);
    file.read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_SIGNATURE_BYTES).then_some(bytes))
}

/// The error for a signature that is too large.
pub(crate) fn too_large(name: String) -> Error {
    Error::TooLarge {
        name,
        limit: MAX_SIGNATURE_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn media_types_tell_the_format() {
        for known in [
            "application/vnd.dev.sigstore.bundle.v0.3+json",
            "application/vnd.dev.sigstore.bundle.v0.1+json",
            "application/vnd.dev.sigstore.bundle+json;version=0.1",
            "application/vnd.dev.sigstore.bundle+json; version=0.2",
            "application/vnd.dev.sigstore.bundle.v0.3.1+json",
        ] {
            let format = SignatureFormat::of_media_type(known);
            assert_eq!(format, Some(SignatureFormat::SigstoreBundle), "{known}");
        }
        let format = SignatureFormat::of_media_type(MINISIGN);
        assert_eq!(format, Some(SignatureFormat::Minisign));
        for other in [
            "",
            "application/vnd.oci.empty.v1+json",
            "application/vnd.dev.sigstore.bundle",
            "application/vnd.dev.sigstore.bundle+json",
            "application/vnd.dev.sigstore.bundle.v+json",
            "application/vnd.dev.sigstore.bundle.v0.+json",
            "application/vnd.dev.sigstore.bundle.vx+json",
            "application/vnd.airlock.minisign.v2",
        ] {
            assert_eq!(SignatureFormat::of_media_type(other), None, "{other}");
        }
    }

    #[test]
    fn a_bundle_is_attached_under_its_own_media_type() {
        let old = "application/vnd.dev.sigstore.bundle+json;version=0.2";
        let bundle = format!(r#"{{"mediaType":"{old}"}}"#);
        let format = SignatureFormat::SigstoreBundle;
        assert_eq!(format.media_type(bundle.as_bytes()), old);
        for other in [r#"{"mediaType":"text/html"}"#, "{}", "[", ""] {
            assert_eq!(format.media_type(other.as_bytes()), BUNDLE, "{other}");
        }
        let minisign = SignatureFormat::Minisign.media_type(bundle.as_bytes());
        assert_eq!(minisign, MINISIGN);
    }

    #[test]
    fn signatures_next_to_a_file_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.wasm");
        assert_eq!(signatures_next_to_file(&file).unwrap(), []);
        let minisig = folder.path().join("x.wasm.minisig");
        fs::write(&minisig, "m").unwrap();
        let bundle = folder.path().join("x.wasm.sigstore.json");
        fs::write(&bundle, "{}").unwrap();
        let found = |format, bytes: &'static str, path: &Path| FoundSignature {
            format,
            bytes: bytes.into(),
            place: path.display().to_string(),
        };
        let bundle_found = found(SignatureFormat::SigstoreBundle, "{}", &bundle);
        let minisig_found = found(SignatureFormat::Minisign, "m", &minisig);
        assert_eq!(
            signatures_next_to_file(&file).unwrap(),
            [bundle_found, minisig_found.clone()]
        );

        // One that can't be read hides no other one.
        fs::write(&bundle, vec![b' '; (1 << 20) + 1]).unwrap();
        assert_eq!(signatures_next_to_file(&file).unwrap(), [minisig_found]);
        fs::remove_file(&minisig).unwrap();
        assert_eq!(
            signatures_next_to_file(&file).unwrap_err().to_string(),
            format!(
                "{} is larger than the limit of 1048576 bytes",
                bundle.display()
            )
        );
        fs::write(&bundle, vec![b' '; 1 << 20]).unwrap();
        assert_eq!(
            signatures_next_to_file(&file).unwrap()[0].bytes.len(),
            1 << 20
        );
    }

    #[test]
    fn a_folder_in_the_place_of_a_signature_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("x.wasm.minisig");
        fs::create_dir(&place).unwrap();
        let error = signatures_next_to_file(&folder.path().join("x.wasm"));
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "can't read the signature {}: it is not a regular file",
                place.display()
            )
        );
    }
}
