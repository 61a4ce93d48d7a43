//! Compression of potentially long data for stores (zlib, RFC 1950). The result is cut into pieces,
//! so that no row has to hold all of it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// The maximum size of a piece, in bytes.
pub(crate) const PIECE: usize = 256 << 10;

/// The maximum size of unpacked data, in bytes. A modified store may hold a few bytes that unpack
/// to more than was ever packed.
const MAX_UNPACKED: u64 = 1 << 30;

/// Compresses `plain` and cuts the result into pieces. Prefers speed to size, because a caller
/// waits.
pub(crate) fn pieces(plain: &[u8]) -> Vec<Arc<[u8]>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory can't fail.
    let _ = encoder.write_all(plain);
    let compressed = encoder.finish().unwrap_or_default();
    compressed.chunks(PIECE).map(Arc::from).collect()
}

/// Returns the data that was packed.
///
/// # Errors
/// Fails if the pieces can't be unpacked.
pub(crate) fn joined(pieces: &[Arc<[u8]>]) -> io::Result<Vec<u8>> {
    let compressed: Vec<u8> = pieces.concat();
    let mut plain = Vec::new();
    ZlibDecoder::new(&*compressed)
        .take(MAX_UNPACKED)
        .read_to_end(&mut plain)?;
    Ok(plain)
}
