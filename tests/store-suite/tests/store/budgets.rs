//! What actions may do together, counted for all who use a store.

use std::sync::Arc;
use std::time::Duration;

use airlock_model::pending::ActionId;
use airlock_model::store::{Budget, Budgets, Spending, Spent};
use airlock_store_suite::Backend;
use tokio::task::JoinSet;

use crate::actions::{self, TEXTS};

const HOUR: Duration = Duration::from_secs(3600);

fn files(files: u64) -> Spending {
    Spending {
        files,
        ..Spending::default()
    }
}

fn budget(files: u64) -> Budget {
    Budget {
        files: Some(files),
        bytes: None,
        deletions: None,
        within: HOUR,
    }
}

/// A thousand actions of one file each, of which a hundred may be changed.
pub async fn are_reached_and_not_passed_by_slivers<B: Backend>() {
    const SLIVERS: usize = 1000;
    const LIMIT: u64 = 100;
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let mut racers = JoinSet::new();
    for number in 0..SLIVERS {
        let budgets = Arc::clone(&hosts[number % 2].budgets);
        racers.spawn(async move {
            let id = actions::id(number);
            let spent = budgets.spend("race", &id, files(1), &budget(LIMIT)).await;
            spent.unwrap() == Spent::Within
        });
    }
    let through = racers.join_all().await.into_iter().filter(|it| *it).count();
    assert_eq!(through as u64, LIMIT);
    for host in &hosts {
        assert_eq!(
            host.budgets.spent("race", HOUR).await.unwrap(),
            files(LIMIT)
        );
        if let Some(store) = &host.durable {
            assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        }
    }
}

pub async fn count_an_action_once_and_take_back_what_it_spent<B: Backend>() {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let [first, second] = [&hosts[0].budgets, &hosts[1].budgets];
    let (one, other) = (actions::id(1), actions::id(2));
    let spend = async |budgets: &dyn Budgets, id: &ActionId, count| {
        budgets
            .spend("one", id, files(count), &budget(10))
            .await
            .unwrap()
    };
    assert_eq!(spend(&**first, &one, 6).await, Spent::Within);
    assert_eq!(spend(&**second, &one, 10).await, Spent::Within);
    let already = files(10);
    let exceeded = Spent::Exceeded { already };
    assert_eq!(spend(&**first, &other, 1).await, exceeded);
    // What was refused leaves what was recorded.
    let already = files(0);
    assert_eq!(spend(&**first, &one, 11).await, Spent::Exceeded { already });
    assert_eq!(second.spent("one", HOUR).await.unwrap(), files(10));
    assert_eq!(spend(&**second, &one, 0).await, Spent::Within);
    assert_eq!(spend(&**first, &other, 10).await, Spent::Within);
    assert_eq!(second.spent("one", HOUR).await.unwrap(), files(10));
    assert_eq!(second.spent("one", Duration::ZERO).await.unwrap(), files(0));
    assert_eq!(second.spent("one", Duration::MAX).await.unwrap(), files(10));
}

/// Each number by itself, however large, in accounts of any name.
pub async fn are_of_one_account_and_hold_any_number<B: Backend>() {
    let backend = B::new().await;
    let budgets = backend.host().await.budgets;
    let most = Spending::MAX;
    let long = "long ".repeat(2000);
    for account in TEXTS.iter().copied().chain([&*long]) {
        let spend = async |number, spending, budget: Budget| {
            let id = actions::id(number);
            budgets
                .spend(account, &id, spending, &budget)
                .await
                .unwrap()
        };
        assert_eq!(budgets.spent(account, HOUR).await.unwrap(), files(0));
        let huge = Spending {
            files: 3,
            bytes: u64::MAX,
            deletions: most - 1,
        };
        let none = Budget {
            files: None,
            bytes: Some(u64::MAX),
            within: Duration::MAX,
            ..budget(0)
        };
        assert_eq!(spend(1, huge, none).await, Spent::Within);
        assert_eq!(spend(2, huge, none).await, Spent::Within);
        let already = Spending {
            files: 6,
            bytes: most,
            deletions: most,
        };
        assert_eq!(budgets.spent(account, HOUR).await.unwrap(), already);
        let deletions = |deletions| Spending {
            deletions,
            ..files(0)
        };
        let tight = Budget {
            deletions: Some(most - 1),
            ..none
        };
        let exceeded = Spent::Exceeded { already };
        assert_eq!(spend(3, deletions(1), tight).await, exceeded);
        // It deletes nothing.
        assert_eq!(spend(3, files(1), tight).await, Spent::Within);
        assert_eq!(
            spend(4, files(4), budget(10)).await,
            Spent::Exceeded {
                already: already + files(1)
            }
        );
        assert_eq!(spend(4, files(3), budget(10)).await, Spent::Within);
    }
}
