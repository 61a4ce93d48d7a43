//! Who decided, and apart from it how that is known.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Who decided about a pending action.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Actor {
    /// The model, by calling the tool `resolve`.
    Model,
    /// A person.
    Person {
        /// What they are called: `user@machine`, or a name that a client gave.
        name: Arc<str>,
    },
    /// A program, by a rule of its own.
    Program {
        /// What it is called.
        name: Arc<str>,
    },
    /// The caller of the host: a person, a script or a model. Older versions recorded no more.
    Unknown {
        /// The account that they used, `user@machine`, if that is known.
        name: Option<Arc<str>>,
    },
}

impl Actor {
    /// A person of this name.
    pub fn person(name: impl Into<Arc<str>>) -> Self {
        Actor::Person { name: name.into() }
    }

    /// A program of this name.
    pub fn program(name: impl Into<Arc<str>>) -> Self {
        Actor::Program { name: name.into() }
    }

    /// A decision of theirs that is known in this way.
    pub fn with_evidence(self, evidence: Evidence) -> DecidedBy {
        DecidedBy {
            actor: self,
            evidence,
        }
    }

    /// A lower-case word for programs: `model`, `person`, `program` or `unknown`.
    pub fn kind(&self) -> &'static str {
        match self {
            Actor::Model => "model",
            Actor::Person { .. } => "person",
            Actor::Program { .. } => "program",
            Actor::Unknown { .. } => "unknown",
        }
    }

    /// What they are called.
    pub fn name(&self) -> Option<&str> {
        match self {
            Actor::Model => None,
            Actor::Person { name } | Actor::Program { name } => Some(name),
            Actor::Unknown { name } => name.as_deref(),
        }
    }

    /// The actor of this [kind](Actor::kind) and name; none where there is no such kind, or where
    /// it lacks its name.
    pub fn from_parts(kind: &str, name: Option<String>) -> Option<Self> {
        let name = name.map(Arc::from);
        Some(match kind {
            "model" => Actor::Model,
            "person" => Actor::Person { name: name? },
            "program" => Actor::Program { name: name? },
            "unknown" => Actor::Unknown { name },
            _ => return None,
        })
    }
}

/// How it is known who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Evidence {
    /// It is not: whoever called the host said so.
    #[default]
    None,
    /// A client of a protocol says so, of somebody whom the host can't see.
    Client,
    /// The host itself asked on its terminal, and was answered there.
    Terminal,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Client, Self::Terminal];

    /// A lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::None => "none",
            Evidence::Client => "client",
            Evidence::Terminal => "terminal",
        }
    }

    /// What such a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Who decided, and how that is known. Serializes as `{"actor", "name", "evidence"}`, where the
/// name is null for the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DecidedBy {
    /// Who decided.
    pub actor: Actor,
    /// How that is known.
    pub evidence: Evidence,
}

/// For what nobody vouches.
impl From<Actor> for DecidedBy {
    fn from(actor: Actor) -> Self {
        actor.with_evidence(Evidence::None)
    }
}

impl DecidedBy {
    /// For stores: what three columns say. A row of a version that had only a name has no kind.
    ///
    /// # Errors
    /// The name of the column that holds what no version of this library writes.
    pub fn from_columns(
        kind: Option<&str>,
        name: Option<String>,
        evidence: Option<&str>,
    ) -> Result<Self, &'static str> {
        let actor = Actor::from_parts(kind.unwrap_or("unknown"), name);
        let evidence = evidence.map_or(Some(Evidence::None), Evidence::parse);
        Ok(actor
            .ok_or("actor")?
            .with_evidence(evidence.ok_or("evidence")?))
    }
}

impl Serialize for DecidedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Columns<'a> {
            actor: &'static str,
            name: Option<&'a str>,
            evidence: Evidence,
        }
        let columns = Columns {
            actor: self.actor.kind(),
            name: self.actor.name(),
            evidence: self.evidence,
        };
        columns.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_store_keeps_of_who_decided_is_read_back_as_it_was() {
        let actors = [
            Actor::Model,
            Actor::person("ann@vm"),
            Actor::program("airlock"),
            Actor::Unknown { name: None },
            Actor::Unknown {
                name: Some("ann".into()),
            },
        ];
        for actor in actors {
            for evidence in Evidence::ALL {
                let by = actor.clone().with_evidence(evidence);
                let name = by.actor.name().map(str::to_owned);
                let read =
                    DecidedBy::from_columns(Some(by.actor.kind()), name, Some(evidence.as_str()));
                assert_eq!(read, Ok(by));
            }
        }
        let old = DecidedBy::from_columns(None, Some("ann".to_owned()), None).unwrap();
        let json = serde_json::to_value(old).unwrap();
        assert_eq!(
            json,
            json!({"actor": "unknown", "name": "ann", "evidence": "none"})
        );
        for (kind, evidence) in [("person", "none"), ("page", "none"), ("model", "key")] {
            assert!(DecidedBy::from_columns(Some(kind), None, Some(evidence)).is_err());
        }
    }
}
