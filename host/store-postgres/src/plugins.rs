//! The plugins that pushed open actions.

use airlock_model::digest::Digest;
use airlock_model::store::{PluginBytes, StoreError};
use sqlx::postgres::PgRow;

use super::PostgresStoreInner;
use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, text};
use super::schema::same_schema;

const PLUGIN: &str = concat!(
    "SELECT name, bytes FROM airlock.plugins WHERE digest = $1 AND ",
    same_schema!()
);

impl PostgresStoreInner {
    pub async fn plugin(&self, digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        let rows = self
            .read(&Statement::new(PLUGIN).bind(digest.to_string()))
            .await?;
        let plugin = |row: &PgRow| {
            Ok(PluginBytes {
                digest,
                name: text(row, "name")?.into(),
                bytes: get::<Vec<u8>>(row, "bytes")?.into(),
            })
        };
        let plugin: Result<_, Failure> = rows.first().map(plugin).transpose();
        plugin.map_err(|failure| self.error(failure))
    }
}
