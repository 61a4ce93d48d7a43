//! Many hosts that start at once.

use airlock_host::DurableStore;

use crate::{connect, ids, push, server, session};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_hosts_make_the_tables_of_an_empty_database_at_once() {
    let url = server().database_url();
    let starting: Vec<_> = (0..20)
        .map(|number| {
            let url = url.clone();
            tokio::spawn(async move {
                let store = connect(&url).await;
                push(&store, &session("shared"), &format!("{number:02}")).await;
                store
            })
        })
        .collect();
    let mut stores = Vec::new();
    for store in starting {
        stores.push(store.await.unwrap());
    }
    let mut found = ids(&stores[0], &session("shared")).await;
    found.sort();
    let expected: Vec<String> = (0..20).map(|number| format!("{number:02}")).collect();
    assert_eq!(found, expected);
    assert_eq!(stores[0].check().await.unwrap(), Vec::<String>::new());
    assert_eq!(stores[0].stats().await.unwrap().schema, 1);
}

#[tokio::test]
async fn an_address_is_told_without_its_password() {
    let url = server().database_url();
    let location = connect(&url).await.location();
    assert!(
        location.starts_with("postgres://airlock@127.0.0.1:"),
        "{location}"
    );
    assert!(!location.contains("horse"), "{location}");
}

#[tokio::test]
async fn the_search_path_does_not_matter() {
    let server = server();
    let database = server.database();
    server.sql(
        &database,
        &format!("ALTER DATABASE {database} SET search_path = nowhere"),
    );
    let store = connect(&server.url(&database)).await;
    push(&store, &session("one"), "an action").await;
    assert_eq!(ids(&store, &session("one")).await, ["an action"]);
}
