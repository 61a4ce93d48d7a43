//! The actor that made a decision, and the evidence for it.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The actor that decided about a pending action.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Actor {
    /// The model, by calling the tool `resolve`.
    Model,
    /// A person.
    Person {
        /// The person's name: `user@machine`, or a name that a client gave.
        name: Arc<str>,
    },
    /// A program that follows its own rule.
    Program {
        /// The program's name.
        name: Arc<str>,
    },
    /// The caller of the host: a person, a script or a model. Older versions recorded nothing else.
    Unknown {
        /// The caller's account, `user@machine`, if known.
        name: Option<Arc<str>>,
    },
}

impl Actor {
    /// Returns a person with this name.
    pub fn person(name: impl Into<Arc<str>>) -> Self {
        Actor::Person { name: name.into() }
    }

    /// Returns a program with this name.
    pub fn program(name: impl Into<Arc<str>>) -> Self {
        Actor::Program { name: name.into() }
    }

    /// Adds the evidence for a decision by this actor.
    pub fn with_evidence(self, evidence: Evidence) -> DecidedBy {
        DecidedBy {
            actor: self,
            evidence,
        }
    }

    /// Returns a lower-case word for programs: `model`, `person`, `program` or `unknown`.
    pub fn kind(&self) -> &'static str {
        match self {
            Actor::Model => "model",
            Actor::Person { .. } => "person",
            Actor::Program { .. } => "program",
            Actor::Unknown { .. } => "unknown",
        }
    }

    /// Returns the actor's name, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Actor::Model => None,
            Actor::Person { name } | Actor::Program { name } => Some(name),
            Actor::Unknown { name } => name.as_deref(),
        }
    }

    /// Returns the actor of this [kind](Actor::kind) and name, or `None` if the kind is unknown or
    /// lacks a required name.
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

/// The evidence for an actor's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Evidence {
    /// The host's caller named the actor, without evidence.
    #[default]
    None,
    /// A protocol client vouches for an actor that the host can't see.
    Client,
    /// The host asked on its own terminal and was answered there.
    Terminal,
}

impl Evidence {
    /// The list of all values.
    pub const ALL: [Self; 3] = [Self::None, Self::Client, Self::Terminal];

    /// Returns a lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::None => "none",
            Evidence::Client => "client",
            Evidence::Terminal => "terminal",
        }
    }

    /// Parses a word that [`as_str`](Self::as_str) returns.
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

/// An actor and the evidence for it. Serializes as `{"actor", "name", "evidence"}`; the name is
/// null for the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DecidedBy {
    /// The actor that decided.
    pub actor: Actor,
    /// The evidence for the actor's identity.
    pub evidence: Evidence,
}

/// Converts an actor without evidence.
impl From<Actor> for DecidedBy {
    fn from(actor: Actor) -> Self {
        actor.with_evidence(Evidence::None)
    }
}

impl DecidedBy {
    /// Reads the three columns of a store. Rows of a version that recorded only a name have no
    /// kind.
    ///
    /// # Errors
    /// Returns the name of the column whose value no version of this library writes.
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
