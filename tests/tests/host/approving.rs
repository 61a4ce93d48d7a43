//! What a model wants applied waits for the session's approver; who decided is told in the end.

use std::sync::{Arc, Mutex};

use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::pending::{Actor, DecidedBy, Evidence};
use airlock_host::standing::{StandingHandler, StandingResult};
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Resolution, Session};
use airlock_tests::{Puppet, durable, eventually, push};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

/// What was asked about, and where the answer goes.
struct Question {
    label: String,
    attempts: u32,
    reason: String,
    answer: oneshot::Sender<Approval>,
}

/// Asks the test, which answers when it likes.
struct AsksTheTest(mpsc::UnboundedSender<Question>);

#[async_trait]
impl Approver for AsksTheTest {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            label: request.action.action.label.clone(),
            attempts: request.action.attempts,
            reason: request.resolution.reason.clone(),
            answer,
        };
        self.0.send(question).expect("the test listens");
        answered.await.expect("the test answers")
    }
}

struct Fixture {
    puppet: Puppet,
    store: Arc<MemoryStore>,
    questions: mpsc::UnboundedReceiver<Question>,
    decided: Arc<Mutex<Vec<DecidedBy>>>,
}

impl Fixture {
    async fn new() -> Self {
        let (asks, questions) = mpsc::unbounded_channel();
        let decided: Arc<Mutex<Vec<DecidedBy>>> = Arc::default();
        let (store, heard) = (Arc::new(MemoryStore::new()), Arc::clone(&decided));
        let shared = Arc::clone(&store);
        let puppet = Puppet::with(|session| {
            session
                .id("asked")
                .store(shared)
                .approver(AsksTheTest(asks))
                .observer(move |_, event| {
                    if let Event::Decided { decided_by, .. } = event {
                        heard.lock().unwrap().push(decided_by.clone());
                    }
                })
        })
        .await;
        Self {
            puppet,
            store,
            questions,
            decided,
        }
    }

    /// Another host's session of the same id.
    fn elsewhere(&self) -> Session {
        Session::builder()
            .id("asked")
            .store(self.store.clone())
            .model_decides()
            .open()
            .unwrap()
    }

    /// The model calls `resolve`, and gets the answer.
    async fn asks_for(&mut self, params: Value, approval: Approval) -> Result<String, Error> {
        let calling = self.puppet.session.call("resolve", &params);
        let answering = async {
            let question = self.questions.recv().await.expect("somebody is asked");
            question.answer.send(approval).expect("it is waited for");
        };
        let (called, ()) = tokio::join!(calling.into_future(), answering);
        called.map(|outcome| outcome.text())
    }

    fn decided(&self) -> Vec<DecidedBy> {
        std::mem::take(&mut self.decided.lock().unwrap())
    }
}

fn apply() -> Value {
    json!({"action": "apply", "reason": "it is right"})
}

fn says(text: &str) -> Value {
    durable("Say it", json!([{"do": "text", "text": text}]))
}

#[tokio::test]
async fn who_decided_is_the_model_or_whoever_took_the_decision_over() {
    let mut fixture = Fixture::new().await;
    let ann = Actor::person("ann").with_evidence(Evidence::Terminal);
    for (approval, by) in [
        (Approval::Allow, Actor::Model.into()),
        (Approval::AllowedBy(ann.clone()), ann),
    ] {
        fixture.puppet.push(says("said")).await;
        let said = fixture.asks_for(apply(), approval).await.unwrap();
        assert_eq!(said, "said");
        assert_eq!(fixture.decided(), [by]);
    }
}

#[tokio::test]
async fn whoever_took_a_decision_over_may_give_a_reason_of_their_own() {
    let mut fixture = Fixture::new().await;
    let ann = Actor::person("ann").with_evidence(Evidence::Client);
    let told = durable("Say why", json!([{"do": "resolution"}]));
    fixture.puppet.push(told).await;
    let approval = Approval::AllowedWithReason {
        decided_by: ann.clone(),
        reason: "I have read it".to_owned(),
    };
    let said = fixture.asks_for(apply(), approval).await.unwrap();
    assert!(said.contains("I have read it"), "{said}");
    assert!(!said.contains("it is right"), "{said}");
    assert_eq!(fixture.decided(), [ann]);
}

/// Takes nobody's word but that of a person at the terminal, and takes over what others decide.
struct WantsATerminal;

#[async_trait]
impl Approver for WantsATerminal {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Allow
    }

    async fn admit(&self, _: &ApprovalRequest<'_>, decided_by: &DecidedBy) -> Approval {
        match decided_by.evidence {
            Evidence::Terminal => Approval::Allow,
            Evidence::Client => {
                Approval::AllowedBy(Actor::person("bob").with_evidence(Evidence::Terminal))
            }
            _ => Approval::NeedsPerson {
                how: "Ask at a terminal.".to_owned(),
            },
        }
    }
}

#[tokio::test]
async fn a_decision_of_somebody_else_than_a_model_may_not_be_enough() {
    let store = Arc::new(MemoryStore::new());
    let shared = Arc::clone(&store);
    let puppet = Puppet::with(|it| it.id("asked").store(shared).approver(WantsATerminal)).await;
    let ann = Actor::person("ann");
    let decide = async |evidence| {
        let by = ann.clone().with_evidence(evidence);
        let apply = Resolution::apply("it is right");
        puppet.session.resolve(apply, by).await
    };
    puppet.push(says("said")).await;
    let refused = decide(Evidence::None).await.unwrap_err();
    assert_eq!(refused.kind(), "needs-person");
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, 0));
    decide(Evidence::Terminal).await.unwrap();
    puppet.push(says("said")).await;
    decide(Evidence::Client).await.unwrap();
    // A discard has no effect, and needs nobody.
    puppet.push(says("never")).await;
    let discard = Resolution::discard("no");
    puppet.session.resolve(discard, ann.clone()).await.unwrap();
    assert_eq!(puppet.session.pending().await.unwrap(), []);
}

#[tokio::test]
async fn a_refusal_leaves_the_action_as_it_was_and_the_model_is_told_which_and_why() {
    let mut fixture = Fixture::new().await;
    let id = fixture.puppet.push(says("never")).await;
    let refuse = Approval::Refuse {
        reason: "not on a Friday".to_owned(),
    };
    let refused = fixture.asks_for(apply(), refuse).await.unwrap_err();
    assert_eq!(refused.kind(), "refused");
    assert_eq!(
        refused.to_string(),
        format!(r#"not applied: "Say it" of "custom_tool", id {id}: not on a Friday"#)
    );
    let person = Approval::NeedsPerson {
        how: "Ask Ann to look at it.".to_owned(),
    };
    let by_id = json!({"action": "apply", "reason": "it is right", "id": id});
    let left = fixture.asks_for(by_id, person).await.unwrap_err();
    assert_eq!(left.kind(), "needs-person");
    assert_eq!(
        left.to_string(),
        format!(
            r#"not applied, since a person must decide about it: "Say it" of "custom_tool", id {id}. Ask Ann to look at it."#
        )
    );
    let pending = fixture.puppet.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, 0));
    assert_eq!(pending[0].last_error, None);
    assert_eq!(fixture.decided(), []);
}

#[tokio::test]
async fn what_a_person_must_decide_the_model_is_not_made_to_ask_again() {
    let mut fixture = Fixture::new().await;
    fixture.puppet.push(says("never")).await;
    let person = Approval::NeedsPerson { how: String::new() };
    fixture.asks_for(apply(), person).await.unwrap_err();
    for _ in 0..3 {
        let turn = fixture.puppet.session.next_turn().await.unwrap();
        assert_eq!(turn.reminders, []);
        assert_eq!((turn.tool_choice.tool(), turn.pending), (None, 1));
    }
    // Of another one it hears, unless that lies below: who names none means the topmost.
    fixture.puppet.push(says("another")).await;
    let turn = fixture.puppet.session.next_turn().await.unwrap();
    assert_eq!((turn.reminders.len(), turn.pending), (1, 2));
    let person = Approval::NeedsPerson { how: String::new() };
    fixture.puppet.push(says("on top")).await;
    fixture.asks_for(apply(), person).await.unwrap_err();
    let turn = fixture.puppet.session.next_turn().await.unwrap();
    assert_eq!((turn.reminders.len(), turn.pending), (0, 3));
    assert_eq!(turn.tool_choice.tool(), None);
}

#[tokio::test]
async fn an_approval_is_not_for_what_somebody_has_tried_to_apply_since() {
    let mut fixture = Fixture::new().await;
    let fails = json!([{"do": "failed", "message": "halfway"}]);
    fixture.puppet.push(durable("Fails", fails)).await;
    let (session, params) = (fixture.puppet.session.clone(), apply());
    let calling = tokio::spawn(async move { session.call("resolve", &params).await });
    let question = fixture.questions.recv().await.unwrap();
    let tried = fixture.puppet.session.clone();
    let apply = Resolution::apply("");
    tried
        .resolve(apply, Actor::person("ann"))
        .await
        .unwrap_err();
    question.answer.send(Approval::Allow).unwrap();
    let refused = calling.await.unwrap().unwrap_err();
    assert_eq!(refused.kind(), "refused");
    assert!(refused.to_string().contains("since"), "{refused}");
    let pending = fixture.puppet.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, 1));
}

/// A plan, say, that is not to be approved by accident.
struct Never;

#[async_trait]
impl StandingHandler for Never {
    fn label(&self) -> String {
        "Never".to_owned()
    }

    async fn apply(
        &self,
        _: &str,
        _: Option<&Map<String, Value>>,
    ) -> Result<StandingResult, Error> {
        panic!("nobody meant this")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_races_for_an_action_decides_about_nothing_else() {
    let mut fixture = Fixture::new().await;
    let session = fixture.puppet.session.clone();
    session.set_standing_handler(Some(Arc::new(Never)));
    let spins = durable("Spins", json!([{"do": "spin"}]));
    fixture.puppet.push(spins).await;
    let cancel = CancellationToken::new();
    let (calls, cancelled) = (session.clone(), cancel.clone());
    let calling = tokio::spawn(async move {
        calls
            .call("resolve", &apply())
            .cancelled_by(&cancelled)
            .await
    });
    let question = fixture.questions.recv().await.unwrap();
    question.answer.send(Approval::Allow).unwrap();
    let is_claimed = async || session.pending().await.unwrap().is_empty();
    eventually("the action is claimed", is_claimed).await;
    let second = session.call("resolve", &apply()).await.unwrap_err();
    assert_eq!(second.kind(), "nothing-pending");
    cancel.cancel();
    assert_eq!(calling.await.unwrap().unwrap_err().kind(), "cancelled");
}

#[tokio::test]
async fn what_is_pushed_while_somebody_thinks_is_not_applied_in_its_place() {
    let mut fixture = Fixture::new().await;
    fixture.puppet.push(says("asked about")).await;
    let (session, params) = (fixture.puppet.session.clone(), apply());
    let calling = tokio::spawn(async move { session.call("resolve", &params).await });
    let question = fixture.questions.recv().await.unwrap();
    assert_eq!((question.label.as_str(), question.attempts), ("Say it", 0));
    assert_eq!(question.reason, "it is right");
    fixture.puppet.push(push("On top", json!({}))).await;
    question.answer.send(Approval::Allow).unwrap();
    let outcome = calling.await.unwrap().unwrap();
    assert_eq!(outcome.text(), "asked about");
    // It asked for the topmost, and is told which that was.
    let resolved = outcome.resolved.unwrap();
    assert_eq!(resolved.action.unwrap().label, "Say it");
    assert_eq!(fixture.puppet.labels().await, ["On top"]);
}

#[tokio::test]
async fn others_can_resolve_it_while_somebody_thinks_and_the_model_hears_of_that() {
    let mut fixture = Fixture::new().await;
    let id = fixture.puppet.push(says("never")).await;
    let (session, params) = (fixture.puppet.session.clone(), apply());
    let calling = tokio::spawn(async move { session.call("resolve", &params).await });
    let question = fixture.questions.recv().await.unwrap();
    let discard = Resolution::discard("no");
    let elsewhere = fixture.elsewhere();
    elsewhere
        .resolve(discard, Actor::person("ann"))
        .await
        .unwrap();
    question.answer.send(Approval::Allow).unwrap();
    let error = calling.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("Pending action {id} was already discarded.")
    );
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_somebody_thinks_has_claimed_nothing() {
    let mut fixture = Fixture::new().await;
    fixture.puppet.push(says("later")).await;
    let (session, params) = (fixture.puppet.session.clone(), apply());
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let calling = tokio::spawn(async move {
        session
            .call("resolve", &params)
            .cancelled_by(&cancelled)
            .await
    });
    let question = fixture.questions.recv().await.unwrap();
    cancel.cancel();
    let error = calling.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), "cancelled");
    assert!(question.answer.is_closed());
    let pending = fixture.puppet.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, 0));
}

#[tokio::test]
async fn nobody_is_asked_about_a_discard_about_a_persons_decision_or_about_nothing() {
    let mut fixture = Fixture::new().await;
    let session = fixture.puppet.session.clone();
    let nothing = session.call("resolve", &apply()).await.unwrap_err();
    assert_eq!(nothing.kind(), "nothing-pending");
    let unknown = json!({"action": "apply", "reason": "", "id": "unknown"});
    let unknown = session.call("resolve", &unknown).await.unwrap_err();
    assert_eq!(unknown.kind(), "unknown-action");
    fixture.puppet.push(says("one")).await;
    fixture.puppet.push(says("two")).await;
    let discard = json!({"action": "discard", "reason": "no"});
    session.call("resolve", &discard).await.unwrap();
    session
        .resolve(Resolution::apply(""), Actor::person("ann"))
        .await
        .unwrap();
    let by = [Actor::Model.into(), Actor::person("ann").into()];
    assert_eq!(fixture.decided(), by);
    assert!(fixture.questions.try_recv().is_err());
    // The embedder may speak for the model, and is asked as it is.
    fixture.puppet.push(says("three")).await;
    let calling = session.resolve(Resolution::apply(""), Actor::Model);
    let answering = async {
        let question = fixture.questions.recv().await.unwrap();
        question.answer.send(Approval::Allow).unwrap();
    };
    let (called, ()) = tokio::join!(calling.into_future(), answering);
    assert_eq!(called.unwrap().text(), "three");
}

#[test]
fn a_session_is_opened_only_where_it_is_said_who_decides() {
    let error = Session::builder().open().unwrap_err();
    assert!(matches!(error, Error::NoDecider), "{error}");
    let told = error.to_string();
    assert!(
        told.contains("`approver(…)`") && told.contains("`model_decides()`"),
        "{told}"
    );
    Session::builder().model_decides().open().unwrap();
}
