//! Calls of tools.

use std::pin::pin;

use airlock_model::content::CallOutcome;
use airlock_model::error::Error;
use airlock_model::event::ToolFunction;
use tokio_util::sync::CancellationToken;

use super::base::Base;
use super::review::Reviews;
use crate::instance::Call;
use crate::params::Params;
use crate::plugin::LoadedTool;
use crate::producer::{Executed, Producer};
use crate::pushing::PlaceOfOthers;

/// A call of a tool.
pub(super) struct ToolCall<'a> {
    pub producer: &'a Producer,
    pub definition: &'a LoadedTool,
    pub params: &'a Params<'a>,
    /// The actions that the pushed ones replace.
    pub place: Option<&'a PlaceOfOthers>,
    pub cancel: Option<&'a CancellationToken>,
}

impl ToolCall<'_> {
    /// Checks the params, makes the call, and rehearses the actions that it pushed.
    pub async fn run(self, base: &Base, reviews: &Reviews) -> Result<CallOutcome, Error> {
        let Self {
            producer,
            definition,
            params,
            place,
            cancel,
        } = self;
        let tool = definition.definition.name.as_str();
        let schema = &definition.params;
        let spent = schema
            .check(tool, params.value(), base.limits(), cancel)
            .await?;
        let call = Call {
            number: base.events.next_call(),
            tool,
            limits: base.limits(),
            cancel,
            spent,
        };
        let executing = pin!(async {
            let executed = producer.execute(&call, params, place).await?;
            base.events.pushed(&call, producer.name(), &executed.pushed);
            Ok(executed)
        });
        let (name, function) = (producer.name(), ToolFunction::Execute);
        let watched = base.events.watched(&call, name, function, executing);
        let Executed {
            result,
            mut pushed,
            drafted,
        } = watched.await?;
        let mut effects = if pushed.is_empty() || !reviews.may_rehearse() {
            Vec::new()
        } else {
            // Boxed, to keep this future small.
            Box::pin(reviews.rehearse_pushed(producer, &pushed, drafted)).await
        };
        pushed.reverse();
        effects.reverse();
        let mut outcome = CallOutcome::new(result, pushed);
        outcome.effects = effects;
        let unseen = outcome.pushed.iter().map(|action| &action.id);
        let unseen = unseen.filter(|id| !outcome.effects.iter().any(|it| it.action == **id));
        outcome.rehearsing = unseen
            .filter(|id| reviews.is_rehearsed(id))
            .cloned()
            .collect();
        Ok(outcome)
    }
}
