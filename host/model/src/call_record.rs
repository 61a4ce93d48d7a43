//! Records of calls and their previews, for decisions that may come days later.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::json::Json;
use crate::packed;
use crate::pending::CallId;
use crate::reads::ReadFiles;

/// A call that pushed actions. The actions refer to it by its id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// The host's id for the call.
    pub id: CallId,
    /// The tool that was called, even if its actions name another origin.
    pub tool: String,
    /// The parameters of the call.
    pub params: Json,
    /// The preview that the caller got, without the notes that the host adds for a model. If a
    /// native tool gave its caller a shortened preview, this is the full one.
    pub content: Vec<Content>,
    /// The time when its actions were pushed, by this machine's clock.
    pub called_at: SystemTime,
    /// The files that the tool read for the call. If one has changed, the preview is stale.
    pub read: ReadFiles,
}

/// A [`CallRecord`] in its stored form: plain if small, otherwise compressed in pieces.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PackedCall {
    /// The host's id for the call.
    pub id: CallId,
    /// The tool that was called.
    pub tool: String,
    /// The time when its actions were pushed.
    pub called_at: SystemTime,
    /// The params, content and files read.
    pub body: PackedBody,
}

/// The params, content and files read, as JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum PackedBody {
    /// The plain JSON, if it has at most 1,024 bytes.
    Plain(Arc<[u8]>),
    /// Compressed JSON (zlib, RFC 1950), cut into pieces of at most 256 KiB to bound the size of a
    /// row.
    Pieces(Vec<Arc<[u8]>>),
}

const MAX_PLAIN: usize = 1024;

#[derive(Serialize)]
struct BodyRef<'a> {
    params: &'a Json,
    content: &'a [Content],
    #[serde(skip_serializing_if = "ReadFiles::is_empty")]
    read: &'a ReadFiles,
}

#[derive(Deserialize)]
struct Body {
    params: Json,
    content: Vec<Content>,
    #[serde(default)]
    read: ReadFiles,
}

impl CallRecord {
    /// Creates a record of a call of `tool`.
    pub fn new(
        id: CallId,
        tool: impl Into<String>,
        params: Json,
        content: Vec<Content>,
        called_at: SystemTime,
    ) -> Self {
        Self {
            id,
            tool: tool.into(),
            params,
            content,
            called_at,
            read: ReadFiles::default(),
        }
    }

    /// Sets the files that the tool read.
    #[must_use]
    pub fn with_read(mut self, read: ReadFiles) -> Self {
        self.read = read;
        self
    }

    /// Packs the record for a store. Takes a few milliseconds per megabyte.
    pub fn pack(&self) -> PackedCall {
        let body = BodyRef {
            params: &self.params,
            content: &self.content,
            read: &self.read,
        };
        // Params and content are texts and values read from JSON, which can always be written as
        // JSON.
        let plain = serde_json::to_vec(&body).unwrap_or_default();
        let body = if plain.len() > MAX_PLAIN {
            PackedBody::Pieces(packed::pieces(&plain))
        } else {
            PackedBody::Plain(plain.into())
        };
        PackedCall {
            id: self.id.clone(),
            tool: self.tool.clone(),
            called_at: self.called_at,
            body,
        }
    }
}

impl PackedCall {
    /// Creates a packed call from what a store has read.
    pub fn new(id: CallId, tool: String, called_at: SystemTime, body: PackedBody) -> Self {
        Self {
            id,
            tool,
            called_at,
            body,
        }
    }

    /// Returns the size that counts towards byte limits.
    pub fn bytes(&self) -> u64 {
        let body = match &self.body {
            PackedBody::Plain(plain) => plain.len(),
            PackedBody::Pieces(pieces) => pieces.iter().map(|piece| piece.len()).sum(),
        };
        (self.tool.len() + body) as u64
    }

    /// Unpacks the record.
    ///
    /// # Errors
    /// Fails if the body is not a valid record, for example because another program changed it.
    pub fn unpack(&self) -> io::Result<CallRecord> {
        let body: Body = match &self.body {
            PackedBody::Plain(plain) => serde_json::from_slice(plain)?,
            PackedBody::Pieces(pieces) => serde_json::from_slice(&packed::joined(pieces)?)?,
        };
        Ok(CallRecord {
            id: self.id.clone(),
            tool: self.tool.clone(),
            params: body.params,
            content: body.content,
            called_at: self.called_at,
            read: body.read,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reads::ReadFile;

    fn record(text: &str) -> CallRecord {
        CallRecord::new(
            "a-call".into(),
            "rename",
            Json::of_own(&json!({"files": ["*.jpeg"], "nul": "\u{0}"})),
            vec![
                Content::text(text),
                Content::Image {
                    data: vec![0, 255, 7],
                    mime_type: "image/png".to_owned(),
                },
                Content::ResourceLink {
                    uri: "file:///a".to_owned(),
                    name: "a".to_owned(),
                    mime_type: None,
                },
            ],
            SystemTime::UNIX_EPOCH,
        )
    }

    #[test]
    fn a_record_of_any_size_is_unpacked_as_it_was() {
        for (text, pieces) in [
            ("a preview".to_owned(), 0),
            ("-a\n+b\n".repeat(10_000), 1),
            // What can't be compressed.
            (
                (0..400_000_u64)
                    .map(|n| {
                        char::from(
                            33 + (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 20) as u8 % 90,
                        )
                    })
                    .collect(),
                2,
            ),
        ] {
            let read = ReadFile::new(u64::MAX, 0o644, Some("00".repeat(32)));
            let read = ReadFiles {
                files: [("a.jpeg".to_owned(), read)].into(),
                is_cut: true,
            };
            let record = record(&text).with_read(read);
            let packed = record.pack();
            match &packed.body {
                PackedBody::Plain(_) => assert_eq!(pieces, 0),
                PackedBody::Pieces(found) => {
                    assert!(found.len() >= pieces, "{}", found.len());
                    assert!(found.iter().all(|piece| piece.len() <= packed::PIECE));
                }
            }
            assert_eq!(packed.unpack().unwrap(), record);
        }
        let diff = record(&"-a\n+b\n".repeat(10_000)).pack();
        assert!(diff.bytes() < 1_000, "{}", diff.bytes());
    }

    #[test]
    fn what_somebody_changed_is_an_error() {
        let mut packed = record(&"long ".repeat(1_000)).pack();
        packed.body = PackedBody::Pieces(vec![Arc::from(*b"no zlib")]);
        packed.unpack().unwrap_err();
        packed.body = PackedBody::Plain(Arc::from(*b"{}"));
        packed.unpack().unwrap_err();
    }
}
