//! Records of the calls that pushed something.

use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::store::StoreError;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, text, time_of_nanos};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStoreInner, session_key};

const FIND: &str = concat!(
    "SELECT c.id, c.tool, c.called_at, c.body FROM airlock.calls AS c
    JOIN airlock.actions AS a ON a.call = c.id WHERE a.id = $1 AND a.session = $2 AND ",
    same_schema!()
);

const PIECES: &str = concat!(
    "SELECT bytes FROM airlock.call_pieces WHERE call = $1 AND ",
    same_schema!(),
    " ORDER BY place"
);

impl PostgresStoreInner {
    /// The record of the call that pushed the action.
    pub async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError> {
        let find = Statement::new(FIND)
            .bind(escaped(action.as_str()))
            .bind(session_key(session));
        let rows = self.read(&find).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let columns = || {
            let (id, tool) = (text(row, "id")?, text(row, "tool")?);
            let called_at = time_of_nanos(get(row, "called_at")?);
            let body: Option<Vec<u8>> = get(row, "body")?;
            Ok((id, tool, called_at, body))
        };
        let (id, tool, called_at, body) = columns().map_err(|error: Failure| self.error(error))?;
        let body = match body {
            Some(plain) => PackedBody::Plain(plain.into()),
            None => {
                let pieces = Statement::new(PIECES).bind(escaped(&id));
                let rows = self.read(&pieces).await?;
                let pieces = rows
                    .iter()
                    .map(|row| Ok(get::<&[u8]>(row, "bytes")?.into()));
                let pieces: Result<_, Failure> = pieces.collect();
                PackedBody::Pieces(pieces.map_err(|error| self.error(error))?)
            }
        };
        let packed = PackedCall::new(id.into(), tool, called_at, body);
        let record = packed.unpack().map_err(|error| {
            let problem = format!("keeps a record of a call that can't be read: {error}");
            self.error(Failure::Unreadable(problem))
        })?;
        Ok(Some(record))
    }
}
