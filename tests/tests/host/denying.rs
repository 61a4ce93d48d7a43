//! Refused and declined requests are recorded, and no answer depends on that record.

use std::sync::{Arc, Mutex};

use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::event::Event;
use airlock_host::pending::{Actor, DecidedBy, Decision, Denial, Evidence};
use airlock_host::policy::Rehearse;
use airlock_host::store::{Denials, MemoryStore, PendingStore};
use airlock_host::{Error, Resolution};
use airlock_tests::{Backend, MemoryBackend, Puppet, durable};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::durable::faulty::{Fault, with_fault};
use crate::rehearsing::write;

fn ann() -> DecidedBy {
    Actor::person("ann").with_evidence(Evidence::Client)
}

/// Answers so, whenever it is asked.
#[derive(Clone)]
struct Says {
    approval: Approval,
    confirmation: Confirmation,
    recheck: Confirmation,
}

impl Says {
    fn approval(approval: Approval) -> Self {
        Self {
            approval,
            confirmation: Confirmation::Commit,
            recheck: Confirmation::Commit,
        }
    }
}

#[async_trait]
impl Approver for Says {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        self.approval.clone()
    }

    async fn admit(&self, _: &ApprovalRequest<'_>, _: &DecidedBy) -> Approval {
        self.approval.clone()
    }

    async fn confirm(&self, _: &ConfirmRequest<'_>) -> Confirmation {
        self.confirmation.clone()
    }

    async fn recheck(&self, _: &ConfirmRequest<'_>) -> Confirmation {
        self.recheck.clone()
    }
}

/// What came of an apply that a model asked for.
struct Asked {
    error: Error,
    denials: Vec<Denial>,
    heard: Vec<Denial>,
}

async fn ask(says: Says, rehearse: Rehearse, store: impl Into<PendingStore>) -> Asked {
    let heard = Arc::<Mutex<Vec<Denial>>>::default();
    let hearing = Arc::clone(&heard);
    let store = store.into();
    let (kept, asked) = (store.clone(), says);
    let puppet = Puppet::with(|session| {
        session
            .store(store)
            .rehearse(rehearse)
            .approver(asked)
            .observer(move |_, event| {
                if let Event::Denied { denial, .. } = event {
                    hearing.lock().unwrap().push(denial.clone());
                }
            })
    })
    .await;
    let writes = json!([write("a.txt", "x")]);
    let id = puppet.push(durable("Write", writes)).await;
    let params = json!({"action": "apply", "reason": "it is right"});
    let error = puppet.session.call("resolve", &params).await.unwrap_err();
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, 0), "{error}");
    let session = puppet.session.id();
    let denials = kept.denials.denials(session, &id.into()).await.unwrap();
    let denials = denials.into_iter().map(|denied| denied.denial);
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    Asked {
        error,
        denials: denials.collect(),
        heard,
    }
}

fn told(denial: &Denial) -> Value {
    assert_eq!(denial.decision, Decision::Apply);
    assert_eq!(denial.asked_by, Actor::Model.into());
    assert_eq!(denial.reason, "it is right");
    let person = denial.denied_by.person();
    json!([
        denial.denied_by.past(),
        person.and_then(|by| by.actor.name()),
        denial.why
    ])
}

#[tokio::test]
async fn what_is_refused_or_declined_is_on_record_and_what_is_only_left_is_not() {
    let why = || "not on a Friday".to_owned();
    for (approval, recorded, said) in [
        (
            Approval::Refuse { reason: why() },
            Some(json!(["refused", null, "not on a Friday"])),
            "not on a Friday",
        ),
        (
            Approval::Decline {
                decided_by: ann(),
                reason: why(),
                advice: "Ask on Monday.".to_owned(),
            },
            Some(json!(["declined", "ann", "not on a Friday"])),
            "not on a Friday. Ask on Monday.",
        ),
        (Approval::Drop { reason: why() }, None, "not on a Friday"),
        (
            Approval::NeedsPerson { how: why() },
            None,
            "not on a Friday",
        ),
    ] {
        let store = Arc::new(MemoryStore::new());
        let asked = ask(Says::approval(approval), Rehearse::Auto, store).await;
        let text = asked.error.to_string();
        assert!(text.ends_with(said), "{text}");
        let found: Vec<_> = asked.denials.iter().map(told).collect();
        assert_eq!(found, Vec::from_iter(recorded), "{text}");
        assert_eq!(asked.heard, asked.denials);
    }
}

#[tokio::test]
async fn so_is_what_is_refused_or_declined_before_the_commit() {
    let why = || "it changes too much".to_owned();
    for (confirmation, recorded) in [
        (
            Confirmation::Refuse { reason: why() },
            Some(json!(["refused", null, "it changes too much"])),
        ),
        (
            Confirmation::Decline {
                decided_by: ann(),
                reason: why(),
            },
            Some(json!(["declined", "ann", "it changes too much"])),
        ),
        (Confirmation::Drop { reason: why() }, None),
    ] {
        // Without a rehearsal `confirm` is asked, and with one `recheck`.
        for rehearse in [Rehearse::Never, Rehearse::Auto] {
            let mut says = Says::approval(Approval::Allow);
            match rehearse {
                Rehearse::Never => says.confirmation = confirmation.clone(),
                _ => says.recheck = confirmation.clone(),
            }
            let asked = ask(says, rehearse, Arc::new(MemoryStore::new())).await;
            assert_eq!(asked.error.kind(), "refused");
            let text = asked.error.to_string();
            assert!(text.contains("it changes too much"), "{text}");
            let found: Vec<_> = asked.denials.iter().map(told).collect();
            assert_eq!(found, Vec::from_iter(recorded.clone()), "{text}");
            assert_eq!(asked.heard, asked.denials);
        }
    }
}

#[tokio::test]
async fn the_answer_is_the_same_if_the_record_cant_be_written() {
    let refuse = || {
        Says::approval(Approval::Refuse {
            reason: "no".to_owned(),
        })
    };
    let good = MemoryBackend::new().await.host().await;
    let closed = with_fault(&good, Fault::ClosedToDenials);
    let expected = ask(refuse(), Rehearse::Auto, good.store).await;
    assert_eq!(expected.denials.len(), 1);
    let asked = ask(refuse(), Rehearse::Auto, closed.store).await;
    assert_eq!(asked.error.kind(), expected.error.kind());
    assert_eq!(asked.denials, []);
    // The observer still hears of it.
    assert_eq!(asked.heard.len(), 1);
}

/// The approver isn't asked about a discard.
#[tokio::test]
async fn a_discard_is_denied_by_no_rule() {
    let store = Arc::new(MemoryStore::new());
    let shared = Arc::clone(&store);
    let refuses = Says::approval(Approval::Refuse {
        reason: "no".to_owned(),
    });
    let puppet = Puppet::with(|session| session.store(shared).approver(refuses)).await;
    let id = puppet.push(durable("Nothing", json!([]))).await;
    let discard = Resolution::discard("wrong");
    puppet.session.resolve(discard, ann()).await.unwrap();
    let denials = store.denials(puppet.session.id(), &id.into()).await;
    assert_eq!(denials.unwrap(), []);
}
