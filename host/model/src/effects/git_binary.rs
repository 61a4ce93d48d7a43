//! Differences of binary files in the format of git.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use crate::digest::hex;

/// The digits of git's base 85.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// The number of bytes in a line.
const LINE: usize = 52;

/// Returns the part of a patch with a file's contents before and after a change, from its line
/// `index`. The contents are `None` where there is no file.
pub fn git_binary(old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    format!(
        "index {}..{}\nGIT binary patch\n{}\n{}\n",
        name(old),
        name(new),
        literal(new.unwrap_or_default()),
        literal(old.unwrap_or_default())
    )
}

/// Returns the name of contents in a repository.
fn name(contents: Option<&[u8]>) -> String {
    let Some(contents) = contents else {
        return "0".repeat(40);
    };
    let mut hash = Sha1::new_with_prefix(format!("blob {}\0", contents.len()));
    hash.update(contents);
    hex(&hash.finalize())
}

/// Returns contents as a text.
fn literal(contents: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory never fails.
    let packed = encoder.write_all(contents).and_then(|()| encoder.finish());
    let mut text = format!("literal {}\n", contents.len());
    for line in packed.unwrap_or_default().chunks(LINE) {
        // The line's length: `A` to `Z` for 1 to 26, and `a` to `z` for more.
        let (first, above) = if line.len() <= 26 {
            ('A', 1)
        } else {
            ('a', 27)
        };
        text.push(char::from(first as u8 + (line.len() - above) as u8));
        for group in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..group.len()].copy_from_slice(group);
            let mut number = u32::from_be_bytes(bytes);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            text.extend(digits.map(char::from));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_written_as_git_writes_them() {
        let name_of_abc = name(Some(b"abc"));
        assert_eq!(name_of_abc, "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f");
        // The bytes of a compressed text depend on the library that compresses it.
        assert!(literal(b"").starts_with("literal 0\nH"));
        let lines: Vec<_> = git_binary(None, Some(&[0; 3]))
            .lines()
            .map(str::to_owned)
            .collect();
        assert!(lines[0].starts_with(&format!("index {}..", "0".repeat(40))));
        assert_eq!(
            [&*lines[2], &*lines[4], &*lines[5], &*lines[7]],
            ["literal 3", "", "literal 0", ""]
        );
    }
}
