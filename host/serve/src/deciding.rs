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
        let stop = call.stop.clone();
        let called = self.session.call(RESOLVE, &call.params);
        let (action, how) = match called.cancelled_by(&stop).await {
            Ok(outcome) => return answer::of_resolution(&outcome).into(),
            Err(Error::NeedsPerson { action, how }) => (action, how),
            Err(error) => return answer::of_error(&error).into(),
        };
        let asking = async {
            let Some(request) = self.request(&call, &action.id, how.clone()).await? else {
                let found = self.rules.store.durable().find(&action.id).await?;
                return match found {
                    Some(record) if record.resolved.is_none() => {
                        Err(Error::ResolutionInProgress(record.action.id))
                    }
                    found => Ok((None, Reply::Elsewhere(found.map(Box::new)))),
                };
            };
            let reply = self.ask(&request, call.task, &call.question).await;
            Ok((Some(request), reply))
        };
        let asked = tokio::select! {
            asked = asking => asked,
            () = stop.cancelled() => Err(Error::Cancelled),
        };
        let result = match asked {
            Ok((_, Reply::Repeat(question))) => return question.into(),
            Ok((_, Reply::Elsewhere(found))) => {
                return answer::of_decided_elsewhere(found.as_deref()).into();
            }
            Ok((Some(request), Reply::Answered(answered))) => {
                self.carry_out(request, &answered, &stop).await
            }
            Ok((_, Reply::TimedOut)) => Err(Error::Refused {
                action,
                reason: format!("there was no decision within a day. It stays pending. {how}"),
            }),
            Ok(_) => Err(Error::NeedsPerson { action, how }),
            Err(error) => Err(error),
        };
        result
            .unwrap_or_else(|error| answer::of_error(&error))
            .into()
    }

    /// Returns the request to a person, or `None` if the action is no longer pending.
    async fn request(
        &self,
        call: &ResolveCall,
        id: &ActionId,
        how: String,
    ) -> Result<Option<Request>, Error> {
        let Some(review) = self.session.review(id).await? else {
            return Ok(None);
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
        Ok(Some(Request {
            caller: call.caller.clone(),
            wanted,
            how,
            at_terminal,
            choices,
        }))
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
        request: Request,
        answered: &ElicitResult,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, Error> {
        let Request {
            wanted, choices, ..
        } = &request;
        let (resolution, notice) = match question::read(answered, &request.subjects()) {
            Answer::Apply(Chosen { at: 0, reason }) => {
                let mut apply = wanted.clone();
                apply.reason = reason.unwrap_or(apply.reason);
                (apply, None)
            }
            Answer::Apply(Chosen { at, reason }) => {
                let reason = reason.unwrap_or_else(|| wanted.reason.clone());
                let notice = "The user chose another of the pending actions.";
                (choices[at].decided(Decision::Apply, reason), Some(notice))
            }
            Answer::Discard(Chosen { at, reason }) => {
                let reason =
                    reason.unwrap_or_else(|| "discarded when asked to apply it".to_owned());
                let notice = "Nothing was applied: the user discarded it instead.";
                (choices[at].decided(Decision::Discard, reason), Some(notice))
            }
            Answer::Later(reason) => {
                let left = "the user leaves it pending for now";
                let reason = reason.map(|reason| format!("{left}: {reason}"));
                let reason = reason.unwrap_or_else(|| left.to_owned());
                let advice = request.how.clone();
                return Err(self.declined(request, &reason, &advice).await);
            }
            Answer::Declined => {
                let advice = format!("It stays pending. {}", request.how);
                let reason = "the user declined to decide";
                return Err(self.declined(request, reason, &advice).await);
            }
            Answer::None(why) => {
                return Err(Error::Refused {
                    action: Box::new(NamedAction::from(request.action())),
                    reason: format!("{why}. It stays pending. {}", request.how),
                });
            }
        };
        let resolving = self.session.resolve(resolution, request.caller.person());
        let outcome = resolving.cancelled_by(stop).await?;
        let result = answer::of_resolution(&outcome.into());
        Ok(match notice {
            Some(notice) => answer::preceded(result, notice),
            None => result,
        })
    }

    /// Records that the person declined. Returns the error for the model.
    async fn declined(&self, request: Request, reason: &str, advice: &str) -> Error {
        let denied_by = DeniedBy::Person(request.caller.person());
        let denial = Denial::new(&request.wanted, Actor::Model.into(), denied_by, reason);
        let action = request.action();
        self.session.record_denial(action, denial).await;
        Error::Refused {
            action: Box::new(NamedAction::from(action)),
            reason: format!("{reason}. {advice}"),
        }
    }
}

impl Request {
    /// Returns the action that the model wants to apply.
    fn action(&self) -> &PendingAction {
        &self.choices[0].action.action
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
