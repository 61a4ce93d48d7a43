//! Bytes from the engine, to whose own memory there is no safe access: it writes them down as
//! hexadecimal digits, which it does fast.

/// Reads what `toHex` of a `Uint8Array` wrote.
pub(crate) fn from_hex(digits: &str) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    };
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| value(pair[0]) << 4 | value(pair[1]))
        .collect()
}
