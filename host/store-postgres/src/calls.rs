//! Records of the calls that pushed actions.

use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::StoreError;
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, pieces, text, time_of_nanos};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStoreInner, session_key};

/// The columns that [`call`] reads, from a table `c`.
macro_rules! call_columns {
    () => {
        "c.id, c.tool, c.called_at, c.body, (
            SELECT array_agg(p.bytes ORDER BY p.place) FROM airlock.call_pieces AS p WHERE p.call = c.id
        ) AS call_pieces"
    };
}

pub(super) use call_columns;

const FIND: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM airlock.calls AS c
    JOIN airlock.actions AS a ON a.call = c.id WHERE a.id = $1 AND a.session = $2 AND ",
    same_schema!()
);

impl PostgresStoreInner {
    /// Returns the record of the call that pushed the action.
    pub async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let find = Statement::new(FIND)
            .bind(escaped(action.as_str()))
            .bind(session_key(session));
        let rows = self.read(&find).await?;
        let found = rows.first().map(call).transpose();
        found.map_err(|error| self.error(error))
    }
}

/// Reads the record of a call.
pub fn call(row: &PgRow) -> Result<CallRecord, Failure> {
    let (id, tool) = (text(row, "id")?, text(row, "tool")?);
    let called_at = time_of_nanos(get(row, "called_at")?);
    let body: Option<Vec<u8>> = get(row, "body")?;
    let body = match body {
        Some(plain) => PackedBody::Plain(plain.into()),
        None => PackedBody::Pieces(pieces(row, "call_pieces")?),
    };
    let packed = PackedCall::new(id.into(), tool, called_at, body);
    packed.unpack().map_err(|error| {
        let problem = format!("keeps a record of a call that can't be read: {error}");
        Failure::Unreadable(problem)
    })
}
