//! Reads the bases of several actions together.

use std::collections::HashMap;
use std::sync::Arc;

use airlock_model::call_record::PackedCall;
use airlock_model::effects::PackedEffects;
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::reads::ReadFiles;
use airlock_model::store::{ActionBasis, BASES_BYTES};
use rusqlite::{Connection, OptionalExtension};

use super::problem::Problem;
use super::{calls, effects};

/// Bases in packed form, as stored.
#[derive(Default)]
pub(super) struct PackedBases {
    /// The effects of each action, and the id of its call.
    actions: Vec<(Option<PackedEffects>, Option<String>)>,
    calls: HashMap<String, Option<PackedCall>>,
}

/// Reads the bases of the first of these actions, as many as fit in one read.
pub(super) fn find(
    connection: &Connection,
    session: &SessionId,
    actions: &[ActionId],
) -> Result<PackedBases, Problem> {
    let select = "SELECT number, effects, call FROM actions WHERE id = ? AND session = ?";
    let mut statement = connection.prepare_cached(select)?;
    let mut found = PackedBases::default();
    let mut bytes = 0;
    for action in actions {
        if bytes >= BASES_BYTES {
            break;
        }
        let row = statement
            .query_row([action.as_str(), session.as_str()], |row| {
                let number: i64 = row.get(0)?;
                Ok((number, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let (mut packed, mut of_call): (_, Option<String>) = (None, None);
        if let Some((number, summary, call)) = row {
            if let Some(summary) = summary {
                packed = Some(effects::of_number(connection, number, summary)?);
            }
            of_call = call;
        }
        bytes += packed.as_ref().map_or(0, PackedEffects::bytes);
        if let Some(call) = &of_call
            && !found.calls.contains_key(call)
        {
            let packed = calls::by_id(connection, "?", [call])?;
            bytes += packed.as_ref().map_or(0, PackedCall::bytes);
            found.calls.insert(call.clone(), packed);
        }
        found.actions.push((packed, of_call));
    }
    Ok(found)
}

impl PackedBases {
    /// Unpacks one record at a time, and keeps little of each.
    pub fn unpacked(self) -> Result<Vec<ActionBasis>, Problem> {
        let calls = self.calls.into_iter().map(|(id, packed)| {
            let call = calls::unpacked(packed)?;
            Ok((id, call.map(|call| Arc::new(call.read))))
        });
        let calls: HashMap<String, Option<Arc<ReadFiles>>> =
            calls.collect::<Result<_, Problem>>()?;
        let actions = self.actions.into_iter().map(|(packed, call)| {
            let read = call.and_then(|call| calls.get(&call).cloned().flatten());
            let effects = effects::unpacked(packed)?;
            Ok(ActionBasis::new(read.unwrap_or_default(), effects))
        });
        actions.collect()
    }
}
