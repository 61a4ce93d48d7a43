//! Consistency checks.

use airlock_model::store::StoreError;

use super::connections::Statement;
use super::durable::AFTER;
use super::record::{get, text};
use super::text::escaped;
use super::{PostgresStoreInner, schema};

/// The checks. Each returns one column of sentences and sees a single state of the store.
const QUESTIONS: [&str; 10] = [
    "SELECT format('the action %s needs the record of its call, which is not kept', a.id) AS said
        FROM airlock.actions AS a
        WHERE a.call IS NOT NULL AND NOT EXISTS (SELECT FROM airlock.calls AS c WHERE c.id = a.call)",
    "SELECT format('the bytes of the plugin %s don''t match its digest', digest) AS said
        FROM airlock.plugins WHERE 'sha256:' || encode(sha256(bytes), 'hex') <> digest",
    "SELECT format('the session %s counts %s open actions, and there are %s', s.id, s.open, count(a.id)) AS said
        FROM airlock.sessions AS s JOIN airlock.actions AS a ON a.session = s.key AND a.open
        GROUP BY s.key, s.id, s.open HAVING s.open < count(a.id)",
    "SELECT format('the open action %s belongs to no session', a.id) AS said
        FROM airlock.actions AS a WHERE a.open AND NOT EXISTS (SELECT FROM airlock.sessions AS s WHERE s.key = a.session)",
    "SELECT format('the open action %s lies above the top of its session', a.id) AS said
        FROM airlock.actions AS a JOIN airlock.sessions AS s ON s.key = a.session WHERE a.open AND a.position > s.top",
    "SELECT format('%s open actions share one place in the session %s', count(*), min(session_id)) AS said
        FROM airlock.actions WHERE open GROUP BY session, position HAVING count(*) > 1",
    "SELECT format('the open action %s needs the plugin %s, which is not kept', a.id, a.plugin) AS said
        FROM airlock.actions AS a
        WHERE a.open AND NOT EXISTS (SELECT FROM airlock.plugins AS p WHERE p.digest = a.plugin)",
    "SELECT format('the action %s can''t be %s%s%s', id, state, CASE WHEN open THEN ' and open' ELSE ' and at its end' END,
            CASE WHEN resolved_order IS NULL THEN ' without' ELSE ' with' END || ' a place among the ends') AS said
        FROM airlock.actions
        WHERE state NOT IN ('pending', 'resolving', 'applied', 'discarded') OR open <> (state IN ('pending', 'resolving'))
            OR open <> (resolved_order IS NULL)",
    "SELECT format('the open action %s lacks its %s', id,
            CASE WHEN durable AND guest_state IS NULL THEN 'state'
                WHEN NOT durable AND owner IS NULL THEN 'host' ELSE 'claim' END) AS said
        FROM airlock.actions
        WHERE open AND ((durable AND guest_state IS NULL) OR (NOT durable AND owner IS NULL)
            OR (state = 'resolving' AND (lease_until IS NULL OR decision IS NULL OR decision NOT IN ('apply', 'discard') OR holder IS NULL)))",
    "SELECT format('the action %s has spent less than nothing of a budget', action) AS said
        FROM airlock.spendings WHERE least(files, bytes, deletions) < 0 OR kept_until < spent_at",
];

const PAGE: i64 = 1000;

impl PostgresStoreInner {
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        // The checks require tables of this version.
        self.read(&Statement::new(schema::IS_SAME)).await?;
        let mut problems = Vec::new();
        for question in QUESTIONS {
            let question = Statement::new(question);
            problems.extend(self.each(&question, |row| text(row, "said")).await?);
        }
        self.read_all_actions(&mut problems).await?;
        Ok(problems)
    }

    async fn read_all_actions(&self, problems: &mut Vec<String>) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let page = Statement::new(AFTER).bind(escaped(&after)).bind(PAGE);
            let rows = self.read(&page).await?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            after = text(last, "id").map_err(|error| self.error(error))?;
            for row in &rows {
                if let Err(error) = self.record(row) {
                    let id: String = get(row, "id").unwrap_or_default();
                    problems.push(format!("the action {id} {}", error.problem()));
                }
            }
        }
    }
}
