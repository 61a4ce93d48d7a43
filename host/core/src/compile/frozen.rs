//! Immutable bytes, so that facts about them stay true.

use std::fs::File;
use std::io::{self, Read};

/// Storage of the bytes.
pub(super) enum Frozen {
    /// A sealed file in memory: it can be mapped, and neither this process nor another one of the
    /// same user can write to it.
    #[cfg(target_os = "linux")]
    Sealed { file: File, length: u64 },
    /// Bytes in this process's own memory.
    Owned(Vec<u8>),
}

impl Frozen {
    /// Copies the first `length` bytes of a file, or the whole file if it is shorter.
    ///
    /// # Errors
    /// If the file can't be read, or memory runs out.
    pub fn copy_of(file: &File, length: u64) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        match sealed::copy_of(file, length) {
            Ok(copy) => return Ok(copy),
            Err(error) => tracing::debug!("no sealed memory: {error}"),
        }
        let mut bytes = Vec::new();
        // Allocating all of it at once avoids growing.
        let room = usize::try_from(length).map_err(io::Error::other)?;
        bytes.try_reserve_exact(room)?;
        rewound(file)?.take(length).read_to_end(&mut bytes)?;
        Ok(Self::Owned(bytes))
    }

    /// Copies these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        #[cfg(target_os = "linux")]
        match sealed::of(bytes) {
            Ok(copy) => return copy,
            Err(error) => tracing::debug!("no sealed memory: {error}"),
        }
        Self::Owned(bytes.to_vec())
    }

    pub fn length(&self) -> u64 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Sealed { length, .. } => *length,
            Self::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `buffer` from the offset `at`.
    ///
    /// # Errors
    /// If there are fewer bytes.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Sealed { file, .. } => {
                std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
            }
            Self::Owned(bytes) => {
                let range = usize::try_from(at)
                    .ok()
                    .and_then(|at| bytes.get(at..at.checked_add(buffer.len())?));
                buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    /// Hashes the first `length` bytes.
    ///
    /// # Errors
    /// If there are fewer bytes.
    pub fn hash(&self, mut hasher: blake3::Hasher, length: u64) -> io::Result<blake3::Hash> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Sealed { file, .. } => {
                hasher.update_reader(rewound(file)?.take(length))?;
            }
            Self::Owned(bytes) => {
                let range = usize::try_from(length).ok().and_then(|it| bytes.get(..it));
                hasher.update(range.ok_or(io::ErrorKind::UnexpectedEof)?);
            }
        }
        if hasher.count() == length {
            Ok(hasher.finalize())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

fn rewound(mut file: &File) -> io::Result<&File> {
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

#[cfg(target_os = "linux")]
mod sealed {
    //! A file in memory, which the kernel protects from changes once it is sealed.

    use std::fs::File;
    use std::io::{self, Read, Write};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};

    use super::{Frozen, rewound};
    use crate::compile::unless_busy;

    pub fn copy_of(file: &File, length: u64) -> io::Result<Frozen> {
        let mut memory = memory(length)?;
        // The kernel copies, so no page of this process is touched.
        let length = io::copy(&mut rewound(file)?.take(length), &mut memory)?;
        seal(memory, length)
    }

    pub fn of(bytes: &[u8]) -> io::Result<Frozen> {
        let mut memory = memory(bytes.len() as u64)?;
        memory.write_all(bytes)?;
        let length = bytes.len() as u64;
        let sealed = seal(memory, length)?;
        // Before it was sealed, another process of this user could have written to it.
        if sealed.hash(blake3::Hasher::new(), length)? == blake3::hash(bytes) {
            Ok(sealed)
        } else {
            Err(io::Error::other("it was changed before it was sealed"))
        }
    }

    /// Creates a memory file for this many bytes.
    fn memory(length: u64) -> io::Result<File> {
        // Writing beyond the limit ends the process with a signal, even in memory.
        let largest = getrlimit(Resource::Fsize).current;
        if largest.is_some_and(|largest| length > largest) {
            return Err(Errno::FBIG.into());
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let name = "airlock-code";
        // Linux 6.3 and later accept the flag that the file is not executable as a program.
        let memory = match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
            Err(Errno::INVAL) => memfd_create(name, flags)?,
            memory => memory?,
        };
        Ok(File::from(memory))
    }

    fn seal(file: File, length: u64) -> io::Result<Frozen> {
        let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        let is_busy = |error: &Errno| *error == Errno::BUSY;
        unless_busy(is_busy, || fcntl_add_seals(&file, all))?;
        Ok(Frozen::Sealed { file, length })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_copy_has_the_bytes_that_were_asked_for_and_says_where_they_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let check = |frozen: Frozen, expected: &[u8]| {
            assert_eq!(frozen.length(), expected.len() as u64);
            let mut all = vec![0; expected.len()];
            frozen.read_at(&mut all, 0).unwrap();
            assert_eq!(all, expected);
            assert!(frozen.read_at(&mut all, 1).is_err());
            assert!(frozen.read_at(&mut [0], u64::MAX).is_err());
            let hash = |length| frozen.hash(blake3::Hasher::new(), length);
            assert_eq!(hash(3).unwrap(), blake3::hash(&expected[..3]));
            assert_eq!(hash(frozen.length()).unwrap(), blake3::hash(expected));
            assert!(hash(frozen.length() + 1).is_err());
        };
        check(Frozen::copy_of(&file, 4).unwrap(), b"0123");
        check(Frozen::copy_of(&file, 100).unwrap(), b"0123456789");
        check(Frozen::of(b"abcdef"), b"abcdef");
        check(Frozen::Owned(b"abcdef".to_vec()), b"abcdef");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_can_write_to_sealed_memory_or_make_it_shorter_or_longer() {
        use std::os::fd::AsRawFd;

        let Frozen::Sealed { file, .. } = Frozen::of(b"code") else {
            panic!("there is no sealed memory here");
        };
        // As another process of the same user would.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        for open in [File::options().write(true), File::options().append(true)] {
            let opened = open.open(&path);
            assert!(opened.is_err() || opened.unwrap().write_all(b"evil").is_err());
        }
        for length in [0, 3, 5] {
            assert!(file.set_len(length).is_err(), "{length}");
        }
        let mut bytes = [0; 4];
        let frozen = Frozen::Sealed { file, length: 4 };
        frozen.read_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"code");
    }
}
