//! The effects of actions that the host observed in rehearsals.

use airlock_model::effects::{EffectsRecord, PackedEffects};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::{Room, StoreError};
use sqlx::postgres::PgRow;

use super::PostgresStoreInner;
use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, optional_text, pieces};
use super::schema::same_schema;

/// Replaces the stored effects. The session's row is locked and counts the additional bytes. It
/// may count too much, as after a resolution.
const KEEP: &str = concat!(
    "WITH open AS (
        SELECT id, effects_bytes FROM airlock.actions WHERE id = $1 AND session = $2 AND open AND ",
    same_schema!(),
    " FOR UPDATE
    ), room AS (
        UPDATE airlock.sessions AS s SET bytes = s.bytes + greatest($4 - open.effects_bytes, 0) FROM open
            WHERE s.key = $2 AND s.bytes + greatest($4 - open.effects_bytes, 0) <= $6
        RETURNING 1
    ), gone AS (
        DELETE FROM airlock.effect_pieces AS p USING room WHERE p.action = $1 AND p.place > coalesce(array_length($5::bytea[], 1), 0)
    ), pieces AS (
        INSERT INTO airlock.effect_pieces (action, place, bytes)
            SELECT $1, p.place, p.bytes FROM room, unnest($5::bytea[]) WITH ORDINALITY AS p (bytes, place)
        ON CONFLICT (action, place) DO UPDATE SET bytes = excluded.bytes
    ), kept AS (
        UPDATE airlock.actions AS a SET effects = $3, bytes = a.bytes - a.effects_bytes + $4, effects_bytes = $4
            FROM room WHERE a.id = $1
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM open) AS open, (SELECT count(*) FROM kept) AS kept"
);

/// The columns that [`effects`] reads, from a table `a`. The ids of actions sort by their bytes,
/// and those of pieces by the database's collation, like their index.
macro_rules! effects_columns {
    () => {
        "a.effects, (
            SELECT array_agg(p.bytes ORDER BY p.place) FROM airlock.effect_pieces AS p WHERE p.action = a.id COLLATE \"default\"
        ) AS effect_pieces"
    };
}

pub(super) use effects_columns;

impl PostgresStoreInner {
    /// Stores the effects of an open action. Does nothing if the action is not open.
    pub async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError> {
        let bytes = effects.bytes();
        self.check_store_room(bytes).await?;
        let number = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        let pieces: Vec<&[u8]> = effects.pieces.iter().map(|it| &**it).collect();
        let keep = Statement::of_action(KEEP, session, action)
            .bind(&*effects.summary)
            .bind(number(bytes))
            .bind(pieces)
            // An unlimited capacity is lowered, so that a sum can't overflow.
            .bind(number(capacity_bytes.min(1 << 62)));
        let mut counted = false;
        loop {
            let counts = |row: &PgRow| Ok((get::<i64>(row, "open")?, get::<i64>(row, "kept")?));
            let (open, kept) = self.first(&keep, counts).await?.unwrap_or_default();
            if open == 0 || kept > 0 {
                self.note_pushed(bytes);
                return Ok(());
            }
            // The session's row includes resolved actions until they are counted again.
            let held = self.counted(session).await?;
            let more = Room { actions: 0, bytes };
            held.check(more, usize::MAX, capacity_bytes)?;
            if counted {
                let problem = "had no room for what an action does, and then had".to_owned();
                return Err(self.error(Failure::Unreadable(problem)));
            }
            counted = true;
        }
    }
}

/// Reads the stored effects of an action.
pub fn effects(row: &PgRow) -> Result<Option<EffectsRecord>, Failure> {
    let Some(summary) = optional_text(row, "effects")? else {
        return Ok(None);
    };
    let record = PackedEffects::new(summary, pieces(row, "effect_pieces")?).unpack();
    record.map(Some).map_err(|error| {
        let problem = format!("keeps what an action does, and it can't be read: {error}");
        Failure::Unreadable(problem)
    })
}
