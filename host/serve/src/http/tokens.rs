//! Tokens, which give access to a server over HTTP.

use std::collections::HashSet;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::server::ServeError;

/// The fewest characters of a token. 32 hexadecimal digits can't be guessed.
const SHORTEST: usize = 32;

/// The most characters of a principal's name.
const LONGEST_NAME: usize = 32;

/// The holder of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name in records.
    pub name: String,
    /// The access that the token gives.
    pub access: Access,
}

/// The access that a token gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Access to all tools, including `resolve`.
    Decide,
    /// Access to all tools except `resolve`.
    Preview,
    /// Access to the [metrics](super::METRICS) only.
    Metrics,
}

impl Principal {
    /// Returns whether the principal may use `resolve`.
    pub fn may_decide(&self) -> bool {
        self.access == Access::Decide
    }
}

/// The tokens of a server. Only the digest of each one is kept.
pub struct Tokens(Vec<(Principal, [u8; 32])>);

/// The problem with a file of tokens. Lines are counted from 1. Tokens are never shown.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file has no token.
    #[error(
        "it has no token; a line of it is `NAME:TOKEN`, `NAME:TOKEN:read-only` or `NAME:TOKEN:metrics`"
    )]
    Empty,
    /// A line is malformed.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line.
        line: usize,
        /// The problem, as a clause.
        problem: &'static str,
    },
}

impl Tokens {
    /// Returns a new token for one principal, and its text, which is not stored anywhere.
    ///
    /// # Errors
    /// [`ServeError::Randomness`].
    pub fn generate(name: &str) -> Result<(Self, String), ServeError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|it| ServeError::Randomness(it.to_string()))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let principal = Principal {
            name: name.to_owned(),
            access: Access::Decide,
        };
        Ok((Self(vec![(principal, digest(&token))]), token))
    }

    /// Parses a file of tokens. Each line is `NAME:TOKEN`, `NAME:TOKEN:read-only` for a principal
    /// that may preview but not decide, or `NAME:TOKEN:metrics` for one that may only read metrics.
    /// Empty lines and lines that start with `#` are skipped.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut all = Vec::new();
        let (mut names, mut digests) = (HashSet::new(), HashSet::new());
        // Some editors start UTF-8 files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem| TokenError::Line {
                line: number,
                problem,
            };
            let (principal, digest) = principal(line).map_err(wrong)?;
            if !names.insert(principal.name.clone()) {
                return Err(wrong("another line has the same name"));
            }
            if !digests.insert(digest) {
                return Err(wrong("another line has the same token"));
            }
            all.push((principal, digest));
        }
        if all.is_empty() {
            Err(TokenError::Empty)
        } else {
            Ok(Self(all))
        }
    }

    /// Returns the principal of a token. Compares all digests in full, so that the time it takes
    /// reveals nothing about any token.
    pub fn find(&self, token: &str) -> Option<&Principal> {
        let given = digest(token);
        let mut found = None;
        for (principal, own) in &self.0 {
            let differs = given.iter().zip(own).fold(0, |all, (a, b)| all | (a ^ b));
            if std::hint::black_box(differs) == 0 {
                found = Some(principal);
            }
        }
        found
    }

    /// Returns whether a principal may read the metrics, which cover all principals: if its token
    /// is for metrics, or if it is the only principal.
    pub fn may_read_metrics(&self, principal: &Principal) -> bool {
        principal.access == Access::Metrics || self.0.len() == 1
    }

    /// Returns all principals, in the order of the file.
    pub fn principals(&self) -> impl Iterator<Item = &Principal> {
        self.0.iter().map(|(principal, _)| principal)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.principals()).finish()
    }
}

fn principal(line: &str) -> Result<(Principal, [u8; 32]), &'static str> {
    let (name, token) = line
        .split_once(':')
        .ok_or("it is not of the form `NAME:TOKEN`")?;
    let (token, access) = match token.split_once(':') {
        None => (token, Access::Decide),
        Some((token, "read-only")) => (token, Access::Preview),
        Some((token, "metrics")) => (token, Access::Metrics),
        Some(_) => return Err("behind the token nothing may stand but `:read-only` or `:metrics`"),
    };
    let of_names = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(of_names) {
        return Err("a name is 1 to 32 letters, digits, `-` and `_`");
    }
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a token is at least 32 characters, without spaces");
    }
    let principal = Principal {
        name: name.to_owned(),
        access,
    };
    Ok((principal, digest(token)))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_found_by_its_own_token_alone() {
        let (ann, ben) = ("a".repeat(32), "b".repeat(40));
        let tokens = Tokens::parse(&format!(
            "\u{feff}# ours\n\nann:{ann}\nben:{ben}:read-only\n"
        ))
        .unwrap();
        let found = |token: &str| {
            let found = tokens.find(token)?;
            Some((found.name.as_str(), found.may_decide()))
        };
        assert_eq!(found(&ann), Some(("ann", true)));
        assert_eq!(found(&ben), Some(("ben", false)));
        for wrong in [
            "",
            "ann",
            &ann[1..],
            &format!("{ann} "),
            &format!("{ben}:read-only"),
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        assert!(!format!("{tokens:?}").contains(&ann));
        let (made, token) = Tokens::generate("owner").unwrap();
        assert_eq!(made.find(&token).unwrap().name, "owner");
        assert_ne!(token, Tokens::generate("owner").unwrap().1);
    }

    #[test]
    fn metrics_are_read_by_a_token_for_them_or_by_who_is_alone() {
        let (ann, scraper) = ("a".repeat(32), "s".repeat(32));
        let may = |text: &str, token: &str| {
            let tokens = Tokens::parse(text).unwrap();
            tokens.may_read_metrics(tokens.find(token).unwrap())
        };
        let both = format!("ann:{ann}\nprometheus:{scraper}:metrics\n");
        assert!(may(&both, &scraper));
        assert!(!may(&both, &ann));
        assert!(may(&format!("ann:{ann}"), &ann));
        let tokens = Tokens::parse(&both).unwrap();
        assert!(!tokens.find(&scraper).unwrap().may_decide());
    }

    #[test]
    fn a_file_with_a_mistake_is_refused_with_its_line_and_without_its_token() {
        let token = "t".repeat(32);
        for line in [
            token.clone(),
            format!(":{token}"),
            format!("a b:{token}"),
            "ann:short".to_owned(),
            format!("ann:{token}:admin"),
            format!("ann:{token}\nben:{token}"),
            format!("ann:{token}\nann:{}", "u".repeat(32)),
        ] {
            let error = Tokens::parse(&line).unwrap_err();
            assert!(matches!(error, TokenError::Line { .. }), "{line}");
            assert!(!error.to_string().contains(&token), "{error}");
        }
        assert_eq!(Tokens::parse("# none\n").unwrap_err(), TokenError::Empty);
    }
}
