//! Reads the bases of several actions together.

use std::collections::HashMap;
use std::sync::Arc;

use airlock_model::pending::{ActionId, SessionId};
use airlock_model::reads::ReadFiles;
use airlock_model::store::{ActionBasis, BASES_BYTES, StoreError};

use super::calls::{call, call_columns};
use super::connections::Statement;
use super::effects::{effects, effects_columns};
use super::problem::Failure;
use super::record::{get, optional_text};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStoreInner, session_key};

/// Reads the bases of the first existing actions, as many as fit in one read. If a call pushed
/// several in a row, its bytes count with the first.
const FIND: &str = concat!(
    "SELECT asked.place, a.call, ",
    effects_columns!(),
    " FROM (
        SELECT place, id, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM (
            SELECT asked.place, a.id, a.effects_bytes + CASE
                WHEN a.call IS DISTINCT FROM lag(a.call) OVER (ORDER BY asked.place) THEN
                    coalesce((SELECT octet_length(c.body) FROM airlock.calls AS c WHERE c.id = a.call), 0)
                    + coalesce((SELECT sum(octet_length(p.bytes)) FROM airlock.call_pieces AS p WHERE p.call = a.call), 0)
                ELSE 0
            END AS bytes
            FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, place)
            JOIN airlock.actions AS a ON a.id = asked.id AND a.session = $2 WHERE ",
    same_schema!(),
    "
        ) AS sized
    ) AS asked JOIN airlock.actions AS a ON a.id = asked.id WHERE asked.before < $3::bigint ORDER BY asked.place"
);

const CALLS: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM airlock.calls AS c WHERE c.id = ANY($1::text[]) AND ",
    same_schema!()
);

impl PostgresStoreInner {
    pub async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        let ids: Vec<_> = actions.iter().map(|id| escaped(id.as_str())).collect();
        let find = Statement::new(FIND)
            .bind(ids)
            .bind(session_key(session))
            .bind(i64::try_from(BASES_BYTES).unwrap_or(i64::MAX));
        let rows = self.read(&find).await?;
        let calls = rows.iter().map(|row| optional_text(row, "call"));
        let calls: Result<Vec<_>, Failure> = calls.collect();
        let calls = calls.map_err(|error| self.error(error))?;
        let reads = self.reads(calls.iter().flatten()).await?;
        let mut bases = Vec::new();
        let found = rows.iter().zip(calls).try_for_each(|(row, call)| {
            let place = usize::try_from(get::<i64>(row, "place")?).unwrap_or_default();
            // The actions in between do not exist.
            bases.resize_with(place.saturating_sub(1), ActionBasis::default);
            let read = call.and_then(|call| reads.get(&call).cloned());
            bases.push(ActionBasis::new(read.unwrap_or_default(), effects(row)?));
            Ok(())
        });
        found.map_err(|error: Failure| self.error(error))?;
        // None of the remaining actions exists.
        if rows.is_empty() {
            bases.resize_with(actions.len(), ActionBasis::default);
        }
        Ok(bases)
    }

    /// Returns the reads of these calls.
    async fn reads<'a>(
        &self,
        calls: impl Iterator<Item = &'a String>,
    ) -> Result<HashMap<String, Arc<ReadFiles>>, StoreError> {
        let mut ids: Vec<_> = calls.map(|id| escaped(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let calls = self.each(&Statement::new(CALLS).bind(ids), call).await?;
        let reads = calls.into_iter();
        let reads = reads.map(|call| (call.id.as_str().to_owned(), Arc::new(call.read)));
        Ok(reads.collect())
    }
}
