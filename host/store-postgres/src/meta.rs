//! Settings of the store, by name.

use airlock_model::store::{BackendErrorKind, StoreError};

use super::PostgresStoreInner;
use super::connections::Statement;
use super::record::get;
use super::schema::same_schema;

const GET: &str = concat!(
    "SELECT value FROM airlock.meta WHERE name = $1 AND ",
    same_schema!()
);

const SET: &str = concat!(
    "INSERT INTO airlock.meta (name, value) SELECT $1, $2 WHERE ",
    same_schema!(),
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
);

const UNSET: &str = concat!(
    "DELETE FROM airlock.meta WHERE name = $1 AND ",
    same_schema!()
);

impl PostgresStoreInner {
    pub async fn meta(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        let find = Statement::new(GET).bind(name);
        self.first(&find, |row| get(row, "value")).await
    }

    pub async fn set_meta(
        &self,
        name: &'static str,
        value: Option<String>,
    ) -> Result<(), StoreError> {
        let statement = match value {
            Some(value) => Statement::new(SET).bind(name).bind(value),
            None => Statement::new(UNSET).bind(name),
        };
        self.read(&statement).await.map(drop)
    }

    /// Parses a setting. `what` names it in the error.
    pub fn number_of(&self, what: &str, value: &str) -> Result<u64, StoreError> {
        value.parse().map_err(|_| {
            let problem =
                format!("can't be read: its {what} is {value:?}, not a number; set it again");
            StoreError::backend(BackendErrorKind::Damaged, &self.location, problem)
        })
    }
}
