//! A model's call of `resolve`, from its params to its answer: the rules decide or demand a person,
//! the person is asked about the action's review, and their decision is carried out.

use std::sync::Arc;

use airlock_host::cancel::CancellationToken;
use airlock_host::digest::Digest;
use airlock_host::pending::{ActionId, Actor, Decision, Denial, DeniedBy, NamedAction, Review};
use airlock_host::store::ActionRecord;
use airlock_host::tool::RESOLVE;
use airlock_host::{Error, PendingAction, Resolution, Session};
use rmcp::model::{
    CallToolResponse, CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult,
};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::answer;
use crate::approving::OperatorRules;
use crate::asking::{self, Caller, QuestionState, Way};
use crate::metrics::Meter;
use crate::question::{self, Answer, Chosen, Subject};
use crate::seal::{Asked, Seals};
use crate::tasks::{ANSWERED_WITHIN, Candidate};

/// The most actions that a person can choose from.
const CHOICES: usize = 10;

/// The decider about pending actions, together with the people that clients ask.
pub struct Decider {
    pub session: Session,
    pub rules: OperatorRules,
    pub seals: Seals,
    pub meter: Meter,
}

/// A call of `resolve`.
pub struct ResolveCall {
    pub params: Value,
    pub caller: Caller,
    /// The task that the call may become.
    pub task: Option<Candidate>,
    pub question: Arc<QuestionState>,
    pub stop: CancellationToken,
}

/// An apply that the rules leave to a person.
struct Request {
    caller: Caller,
    /// The decision that the model wants, about the first of the choices.
    wanted: Resolution,
    /// The ways in which a person can decide without being asked here, as sentences for the model.
    how: String,
    /// True if the rules only accept a decision from a terminal.
    at_terminal: bool,
    /// The reviews of the action that would be applied, and of those that may be chosen instead.
    choices: Vec<Review>,
}

/// The outcome of the attempt to ask a person.
enum Reply {
    Answered(ElicitResult),
    /// The client gets the question now, and repeats the call with the answer.
    Repeat(InputRequiredResult),
    Unasked,
    /// The action was resolved elsewhere.
    Elsewhere(Option<Box<ActionRecord>>),
    TimedOut,
}

impl Decider {
    /// Carries out a call of `resolve`. Asks a person if the rules demand one.
    pub async fn resolve(&self, call: ResolveCall) -> CallToolResponse {
        let resolved = self.decide(call).await;
        resolved.unwrap_or_else(|error| answer::of_error(&error).into())
    }

    async fn decide(&self, call: ResolveCall) -> Result<CallToolResponse, Error> {
        let stop = call.stop.clone();
        let called = self.session.call(RESOLVE, &call.params);
        let (action, how) = match called.cancelled_by(&stop).await {
            Ok(outcome) => return Ok(answer::of_resolution(&outcome).into()),
            Err(Error::NeedsPerson { action, how }) => (action, how),
            Err(error) => return Err(error),
        };
        let asking = async {
            let request = self.request(&call, &action.id, how).await?;
            let reply = self.ask(&request, call.task, &call.question).await;
            Ok((request, reply))
        };
        let asked = tokio::select! {
            asked = asking => asked,
            () = stop.cancelled() => Err(Error::Cancelled),
        };
        let (request, reply) = asked?;
        match reply {
            Reply::Answered(answered) => {
                let result = self.carry_out(&request, &answered, &stop).await;
                result.map(CallToolResponse::from)
            }
            Reply::Repeat(question) => Ok(question.into()),
            Reply::Elsewhere(found) => Ok(answer::of_decided_elsewhere(found.as_deref()).into()),
            Reply::TimedOut => Err(request.undecided("there was no decision within a day")),
            Reply::Unasked => Err(Error::NeedsPerson {
                action,
                how: request.how,
            }),
        }
    }

    /// Returns the request to a person.
    ///
    /// # Errors
    /// The errors of a claim if the action is no longer pending.
    async fn request(
        &self,
        call: &ResolveCall,
        id: &ActionId,
        how: String,
    ) -> Result<Request, Error> {
        let Some(review) = self.session.review(id).await? else {
            let record = self.rules.store.durable().find(id).await?;
            let resolved = record.and_then(|record| record.resolved);
            return Err(match resolved.map(|resolved| resolved.decision) {
                Some(decision) => Error::AlreadyResolved {
                    id: id.clone(),
                    decision,
                },
                None => Error::ResolutionInProgress(id.clone()),
            });
        };
        // The session has checked the params.
        let reason = call.params["reason"].as_str().unwrap_or_default();
        let mut wanted = review.decided(Decision::Apply, reason);
        wanted.extra = call.params["extra"].as_object().cloned();
        let at_terminal = self.rules.demand_terminal(&self.session, &review).await;
        let mut choices = vec![review];
        if !at_terminal && call.params["id"].is_null() && !matches!(call.caller.way, Way::None) {
            choices.extend(self.others(id).await);
        }
        Ok(Request {
            caller: call.caller.clone(),
            wanted,
            how,
            at_terminal,
            choices,
        })
    }

    /// Returns the reviews of the other actions that a person may choose, with what is known
    /// already.
    async fn others(&self, id: &ActionId) -> Vec<Review> {
        // If the stack can't be read, the decision reports that.
        let pending = self.session.pending().await.unwrap_or_default();
        let mut reviews = Vec::new();
        for other in pending.into_iter().take(CHOICES) {
            if other.action.id != *id {
                let effects = self.session.effects(&other.action.id).await;
                reviews.push(Review::new(other, effects.ok().flatten()));
            }
        }
        reviews
    }

    /// Asks a person: as a task that waits, in the client while the call waits, or with a question
    /// that ends the call.
    async fn ask(
        &self,
        request: &Request,
        task: Option<Candidate>,
        state: &QuestionState,
    ) -> Reply {
        let subjects = request.subjects();
        let is_shown = !request.at_terminal && !matches!(request.caller.way, Way::None);
        let question = is_shown.then(|| self.question(request, &subjects));
        // A terminal can't resolve an action that only exists in its tool's memory.
        let waits = is_shown || request.action().durable;
        if let Some(task) = task.filter(|_| waits) {
            match task.begin(&request.how, question.clone()) {
                Ok(answered) => return self.wait_for_task(request, answered).await,
                Err(problem) => tracing::warn!("an apply becomes no task: {problem}"),
            }
        }
        match (question, &request.caller.way) {
            (Some(question), Way::Request(peer)) => {
                let asking = state.while_open(asking::ask(peer, question));
                let _open = self.meter.asking();
                tokio::select! {
                    answered = asking => match answered {
                        Ok(answered) => Reply::Answered(answered),
                        Err(error) => {
                            tracing::warn!("the client asked no one: {error}");
                            Reply::Unasked
                        }
                    },
                    elsewhere = self.resolved_elsewhere(&request.action().id) => elsewhere,
                }
            }
            (Some(question), Way::Round { bound, answer }) => {
                self.ask_in_rounds(request, &subjects, question, bound, answer.as_ref())
            }
            _ => Reply::Unasked,
        }
    }

    async fn wait_for_task(
        &self,
        request: &Request,
        answered: oneshot::Receiver<ElicitResult>,
    ) -> Reply {
        let _open = self.meter.asking();
        tokio::select! {
            Ok(answered) = answered => Reply::Answered(answered),
            elsewhere = self.resolved_elsewhere(&request.action().id) => elsewhere,
            () = sleep(ANSWERED_WITHIN) => Reply::TimedOut,
        }
    }

    /// Returns the client's answer if it is to this very question, and the question otherwise.
    fn ask_in_rounds(
        &self,
        request: &Request,
        subjects: &[Subject<'_>],
        question: ElicitRequestParams,
        bound: &[u8],
        answer: Option<&(String, ElicitResult)>,
    ) -> Reply {
        let now = asked_about(request, subjects);
        if let Some((state, answered)) = answer {
            match self.seals.open(state, bound) {
                Ok(then) if then == now => return Reply::Answered(answered.clone()),
                // The effects differ from those in the answer: ask again.
                Ok(_) => {}
                Err(problem) => tracing::warn!("an answer doesn't count: {problem}"),
            }
        }
        match self.seals.seal(&now, bound) {
            Ok(state) => {
                let requests = question::requests(question);
                Reply::Repeat(InputRequiredResult::new(Some(requests), Some(state)))
            }
            Err(problem) => {
                tracing::warn!("the question could not be asked: {problem}");
                Reply::Unasked
            }
        }
    }

    fn question(&self, request: &Request, subjects: &[Subject<'_>]) -> ElicitRequestParams {
        question::of(subjects, &request.wanted.reason, |id| {
            self.rules.command(&["show", id.as_str()])
        })
    }

    /// Waits until an action is resolved elsewhere, for example in a terminal. The reply has its
    /// record, unless the store no longer has it.
    async fn resolved_elsewhere(&self, id: &ActionId) -> Reply {
        let store = self.rules.store.durable();
        loop {
            let changed = self.session.pending_changed();
            match store.find(id).await {
                Ok(Some(record)) if record.resolved.is_none() => {}
                Ok(found) => return Reply::Elsewhere(found.map(Box::new)),
                // If the state can't be read, keep waiting.
                Err(error) => tracing::warn!("can't read the state of action {id}: {error}"),
            }
            changed.await;
        }
    }

    /// Carries out a person's answer.
    async fn carry_out(
        &self,
        request: &Request,
        answered: &ElicitResult,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, Error> {
        let Request {
            wanted, choices, ..
        } = request;
        let (resolution, notice) = match question::read(answered, &request.subjects()) {
            Answer::Apply(Chosen {
                at: 0,
                reason,
                part,
            }) => {
                let mut apply = wanted.clone().with_selection(part);
                apply.reason = reason.unwrap_or(apply.reason);
                (apply, None)
            }
            Answer::Apply(Chosen { at, reason, part }) => {
                let reason = reason.unwrap_or_else(|| wanted.reason.clone());
                let notice = "The user chose another of the pending actions.";
                let apply = choices[at].decided(Decision::Apply, reason);
                (apply.with_selection(part), Some(notice))
            }
            Answer::Discard(Chosen { at, reason, .. }) => {
                let reason =
                    reason.unwrap_or_else(|| "discarded when asked to apply it".to_owned());
                let notice = "Nothing was applied: the user discarded it instead.";
                (choices[at].decided(Decision::Discard, reason), Some(notice))
            }
            Answer::Later(reason) => {
                let left = "the user leaves it pending for now";
                let reason = reason.map(|reason| format!("{left}: {reason}"));
                let reason = reason.unwrap_or_else(|| left.to_owned());
                self.record_denial(request, &reason).await;
                return Err(request.refused(format!("{reason}. {}", request.how)));
            }
            Answer::Declined => {
                let reason = "the user declined to decide";
                self.record_denial(request, reason).await;
                return Err(request.undecided(reason));
            }
            Answer::None(why) => return Err(request.undecided(why)),
        };
        let resolving = self.session.resolve(resolution, request.caller.person());
        let outcome = resolving.cancelled_by(stop).await?;
        let result = answer::of_resolution(&outcome.into());
        Ok(match notice {
            Some(notice) => answer::preceded(result, notice),
            None => result,
        })
    }

    /// Records that the person declined.
    async fn record_denial(&self, request: &Request, reason: &str) {
        let denied_by = DeniedBy::Person(request.caller.person());
        let denial = Denial::new(&request.wanted, Actor::Model.into(), denied_by, reason);
        self.session.record_denial(request.action(), denial).await;
    }
}

impl Request {
    /// Returns the action that the model wants to apply.
    fn action(&self) -> &PendingAction {
        &self.choices[0].action.action
    }

    /// Returns the error for the model if nobody decided.
    fn undecided(&self, why: &str) -> Error {
        self.refused(format!("{why}. It stays pending. {}", self.how))
    }

    fn refused(&self, reason: String) -> Error {
        Error::Refused {
            action: Box::new(NamedAction::from(self.action())),
            reason,
        }
    }

    fn subjects(&self) -> Vec<Subject<'_>> {
        self.choices.iter().map(Subject::of).collect()
    }
}

/// Returns the subject of a question, to compare it with that of an answer.
fn asked_about(request: &Request, subjects: &[Subject<'_>]) -> Asked {
    let shown: Vec<_> = subjects.iter().map(|it| (it.id, it.effects)).collect();
    let shown = serde_json::to_vec(&shown).unwrap_or_default();
    Asked {
        action: request.action().id.to_string(),
        effects: Digest::of(&shown).to_string(),
        attempts: request.choices[0].action.attempts,
    }
}
