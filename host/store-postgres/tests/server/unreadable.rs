//! Rows that this version can't read, and what somebody added to the tables.

use airlock_model::pending::Resolution;
use airlock_model::store::{BackendErrorKind, Claims, DurableStore, Scope, Stacks};
use airlock_store_postgres::PostgresStore;
use airlock_store_suite::Tester;

use crate::{claim, complete, connect, ids, push, server, session};

#[tokio::test]
async fn a_row_that_cant_be_read_hides_no_other_and_is_reported() {
    for (column, value) in [
        ("grants", "'{\"of\": \"a newer version\"}'"),
        ("workspace_identity", "'?'"),
        ("plugin", "'md5'"),
    ] {
        let database = server().database();
        let store = connect(&server().url(&database)).await;
        let stack = session("one");
        push(&store, &stack, "below").await;
        push(&store, &stack, "unreadable").await;
        let change =
            format!("UPDATE airlock.actions SET {column} = {value} WHERE id = 'unreadable'");
        server().sql(&database, &change);
        assert_eq!(ids(&store, &stack).await, ["below"], "{column}");
        assert_eq!(store.open_actions(Scope::All).await.unwrap().len(), 1);
        let top = store.peek(&stack).await.unwrap().unwrap();
        assert_eq!(top.action.id.as_str(), "below");
        let briefly = store.list_briefly(&stack).await.unwrap();
        assert_eq!(briefly[0].id(), &top.action.id, "{column}");
        let unreadable = store.peek_at(&stack, &"unreadable".into()).await;
        assert_eq!(unreadable.unwrap(), None);
        let reported = store.unreadable_actions().await.unwrap();
        assert_eq!(reported.len(), 1, "{column}");
        assert_eq!(reported[0].id.as_str(), "unreadable");
        assert_eq!(reported[0].session, stack);
        let problems = store.check().await.unwrap();
        assert!(
            problems.iter().any(|it| it.contains("unreadable")),
            "{problems:?}"
        );
        let claimed = claim(&store, &stack, Resolution::apply("")).await;
        assert_eq!(claimed.action.id.as_str(), "below");
        complete(&store, claimed).await;
        let named = Resolution::apply("").with_id("unreadable");
        let error = store
            .claim(&stack, &named, &Tester.into())
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("keeps the action unreadable"), "{error}");
        // It was given back as it was.
        let row = "SELECT state, attempts FROM airlock.actions WHERE id = 'unreadable'";
        assert_eq!(server().sql(&database, row), "pending|0");
    }
}

#[tokio::test]
async fn a_trigger_and_a_rule_on_the_tables_are_refused_by_name() {
    for (change, named) in [
        (
            "CREATE FUNCTION relabel() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN new.label := 'harmless'; RETURN new; END $$;
             CREATE TRIGGER relabels BEFORE INSERT ON airlock.actions FOR EACH ROW EXECUTE FUNCTION relabel()",
            "the trigger `relabels` on the table `actions`",
        ),
        (
            "CREATE RULE forgets AS ON DELETE TO airlock.plugins DO INSTEAD NOTHING",
            "the rule `forgets` on `plugins`",
        ),
    ] {
        let database = server().database();
        drop(connect(&server().url(&database)).await);
        server().sql(&database, change);
        let error = PostgresStore::connect(server().url(&database)).await;
        let error = error.unwrap_err();
        assert_eq!(error.backend_kind(), Some(BackendErrorKind::Damaged));
        assert!(error.to_string().contains(named), "{error}");
    }
}
