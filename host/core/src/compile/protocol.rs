//! The messages between a host and its compiler process: one request and one answer.

use airlock_worker::Part;

/// The part of a program that compiles.
pub const COMPILER: Part = Part {
    argument: "airlock-compile-a-component",
    version: "2",
};

/// Maximum length of a reason, in bytes.
const REASON_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileRequest<'a> {
    /// Identifies the code that the host's engine can run, in little-endian bytes.
    pub compatibility: [u8; 8],
    pub component: &'a [u8],
}

impl<'a> CompileRequest<'a> {
    /// Returns its bytes, in parts.
    pub fn parts(&self) -> [&[u8]; 2] {
        [&self.compatibility, self.component]
    }

    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (&compatibility, component) = bytes.split_first_chunk()?;
        Some(Self {
            compatibility,
            component,
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// The compiled code.
    Code(Vec<u8>),
    /// The bytes are not a component, for this reason.
    Refused(String),
    /// The memory limit was too low.
    OutOfMemory,
    /// The compiler program is of another version, so the host can't run its code.
    OtherEngine,
}

impl Answer {
    /// Returns its bytes, in parts. The kind of the answer comes last, so that cutting it off
    /// leaves the code in place.
    pub fn parts(&self) -> [&[u8]; 2] {
        match self {
            Answer::Code(code) => [code, &[0]],
            Answer::Refused(reason) => {
                let reason = &reason[..reason.floor_char_boundary(REASON_BYTES)];
                [reason.as_bytes(), &[1]]
            }
            Answer::OutOfMemory => [&[], &[2]],
            Answer::OtherEngine => [&[], &[3]],
        }
    }

    /// Returns the maximum size of an answer for this maximum size of code.
    pub fn max_bytes(code: u64) -> u64 {
        code.max(REASON_BYTES as u64).saturating_add(1)
    }

    pub fn from_bytes(mut bytes: Vec<u8>) -> Option<Self> {
        match bytes.pop()? {
            0 => Some(Answer::Code(bytes)),
            1 if bytes.len() <= REASON_BYTES => Some(Answer::Refused(
                String::from_utf8_lossy(&bytes).into_owned(),
            )),
            2 if bytes.is_empty() => Some(Answer::OutOfMemory),
            3 if bytes.is_empty() => Some(Answer::OtherEngine),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = CompileRequest {
            compatibility: *b"12345678",
            component: b"component",
        };
        let bytes = request.parts().concat();
        assert_eq!(CompileRequest::from_bytes(&bytes), Some(request));
        assert_eq!(CompileRequest::from_bytes(&bytes[..7]), None);
    }

    #[test]
    fn an_answer_is_read_as_it_was_written_or_not_at_all() {
        let check = |answer: Answer| {
            let mut bytes = answer.parts().concat();
            assert_eq!(Answer::from_bytes(bytes.clone()), Some(answer));
            bytes.push(4);
            assert_eq!(Answer::from_bytes(bytes), None);
        };
        check(Answer::Code(vec![7; 100]));
        check(Answer::Code(Vec::new()));
        check(Answer::Refused("no".to_owned()));
        check(Answer::OutOfMemory);
        check(Answer::OtherEngine);
        assert_eq!(Answer::from_bytes(Vec::new()), None);
        assert_eq!(Answer::from_bytes(vec![7, 2]), None);
    }

    #[test]
    fn a_reason_is_cut_and_a_longer_one_is_no_answer() {
        let long = "ä".repeat(REASON_BYTES);
        let mut bytes = Answer::Refused(long).parts().concat();
        assert!(matches!(
            Answer::from_bytes(bytes.clone()),
            Some(Answer::Refused(reason)) if reason.len() == REASON_BYTES
        ));
        bytes.insert(0, b'x');
        assert_eq!(Answer::from_bytes(bytes), None);
    }
}
