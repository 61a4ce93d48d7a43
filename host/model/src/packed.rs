//! What may be long, as stores keep it: compressed (zlib, RFC 1950), and cut into pieces, so that
//! no row has to hold all of it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// The most bytes of one piece.
pub(crate) const PIECE: usize = 256 << 10;

/// A store that somebody has changed may hold a few bytes that unpack to more than was ever packed.
const MAX_UNPACKED: u64 = 1 << 30;

/// Somebody waits for it, so it is done fast rather than well.
pub(crate) fn pieces(plain: &[u8]) -> Vec<Arc<[u8]>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Nothing that is written to memory fails.
    let _ = encoder.write_all(plain);
    let compressed = encoder.finish().unwrap_or_default();
    compressed.chunks(PIECE).map(Arc::from).collect()
}

/// What was packed.
///
/// # Errors
/// Where these are no such pieces.
pub(crate) fn joined(pieces: &[Arc<[u8]>]) -> io::Result<Vec<u8>> {
    let compressed: Vec<u8> = pieces.concat();
    let mut plain = Vec::new();
    ZlibDecoder::new(&*compressed)
        .take(MAX_UNPACKED)
        .read_to_end(&mut plain)?;
    Ok(plain)
}
