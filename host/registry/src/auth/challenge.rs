//! The header by which a server asks for a login.

/// One challenge, such as `Bearer realm="https://auth.example.com/token",service="registry"`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Reads a header with one challenge. Servers that offer several send a header for each.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let header = header.trim();
        let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
        if scheme.is_empty() || scheme.contains(['=', '"', ',']) {
            return None;
        }
        Some(Self {
            scheme: scheme.to_ascii_lowercase(),
            parameters: parameters(rest),
        })
    }

    /// This challenge, if it asks for a token.
    pub(super) fn bearer(&self) -> Option<&Self> {
        (self.scheme == "bearer").then_some(self)
    }

    /// Whether it asks for a name and a password.
    pub(super) fn is_basic(&self) -> bool {
        self.scheme == "basic"
    }

    /// The address of the token server.
    pub(super) fn realm(&self) -> Option<&str> {
        self.parameter("realm")
    }

    /// The name that the token server knows the registry by.
    pub(super) fn service(&self) -> Option<&str> {
        self.parameter("service")
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn parameters(mut rest: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_matches([' ', ',', '\t']).to_ascii_lowercase();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        parameters.push((key, value));
        rest = after;
    }
    parameters
}

/// The value up to the closing quote, and what follows that.
fn unquote(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_server_is_found() {
        let header = r#"Bearer realm="https://a.example/token?x=1,2",service="r \"q\"",scope=x"#;
        let challenge = Challenge::parse(header).unwrap();
        assert!(challenge.bearer().is_some());
        assert_eq!(challenge.realm(), Some("https://a.example/token?x=1,2"));
        assert_eq!(challenge.service(), Some(r#"r "q""#));
        assert_eq!(challenge.parameter("scope"), Some("x"));
    }

    #[test]
    fn a_password_is_asked_for_in_any_case() {
        for header in ["Basic", "basic realm=x", r#"BASIC realm="Registry Realm""#] {
            assert!(Challenge::parse(header).unwrap().is_basic(), "{header}");
        }
    }

    #[test]
    fn broken_headers_give_no_realm() {
        for header in [
            "",
            " ",
            "=",
            "\"",
            "Bearer",
            "Bearer realm",
            "Bearer ,,=",
            "Bearer x=\"\\",
        ] {
            let challenge = Challenge::parse(header);
            assert_eq!(
                challenge.as_ref().and_then(Challenge::realm),
                None,
                "{header}"
            );
        }
    }
}
