//! Records of the calls that pushed actions.

use airlock_model::call_record::{CallRecord, PackedBody, PackedCall};
use sqlx::postgres::PgRow;

use super::problem::Failure;
use super::record::{get, pieces, text, time_of_nanos};

/// The columns that [`call`] reads, from a table `c`.
macro_rules! call_columns {
    () => {
        "c.id, c.tool, c.called_at, c.body, (
            SELECT array_agg(p.bytes ORDER BY p.place) FROM airlock.call_pieces AS p WHERE p.call = c.id
        ) AS call_pieces"
    };
}

pub(super) use call_columns;

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
