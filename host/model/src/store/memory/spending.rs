//! Spending under budgets in the in-memory store.

use std::collections::{HashMap, VecDeque};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::MemoryStore;
use crate::pending::ActionId;
use crate::store::{Budget, Budgets, SPENDING_KEPT, Spending, Spent, StoreError};

#[async_trait]
impl Budgets for MemoryStore {
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        let mut accounts = self.accounts();
        Ok(accounts.spend(account, action, spending, budget, Instant::now()))
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        let accounts = self.accounts();
        Ok(accounts.spent(account, within, Instant::now()))
    }
}

impl MemoryStore {
    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The spending of each account. The clock can't be set.
#[derive(Debug, Default)]
pub(super) struct Accounts(HashMap<String, Account>);

impl Accounts {
    pub fn spend(
        &mut self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
        now: Instant,
    ) -> Spent {
        self.forget_old(now);
        if let Some(account) = self.0.get_mut(account) {
            return account.spend(action, spending, budget, now);
        }
        let mut opened = Account::default();
        let spent = opened.spend(action, spending, budget, now);
        if spent == Spent::Within {
            self.0.insert(account.to_owned(), opened);
        }
        spent
    }

    pub fn spent(&self, account: &str, within: Duration, now: Instant) -> Spending {
        let account = self.0.get(account);
        account.map_or(Spending::default(), |account| {
            account.spent_but_by(None, within, now)
        })
    }

    fn forget_old(&mut self, now: Instant) {
        self.0.retain(|_, account| {
            account.forget_old(now);
            !account.entries.is_empty()
        });
    }
}

#[derive(Debug)]
struct Account {
    /// The entries, last recorded at the back.
    entries: VecDeque<Entry>,
    /// The longest retention of the account's budgets so far.
    kept: Duration,
}

#[derive(Debug)]
struct Entry {
    action: ActionId,
    at: Instant,
    spending: Spending,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            kept: SPENDING_KEPT,
        }
    }
}

impl Account {
    fn spend(
        &mut self,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
        now: Instant,
    ) -> Spent {
        let already = self.spent_but_by(Some(action), budget.within, now);
        if !budget.allows(already, spending) {
            return Spent::Exceeded { already };
        }
        self.kept = self.kept.max(budget.retention());
        self.entries.retain(|entry| entry.action != *action);
        self.entries.push_back(Entry {
            action: action.clone(),
            at: now,
            spending: spending.capped(),
        });
        Spent::Within
    }

    fn spent_but_by(&self, but: Option<&ActionId>, within: Duration, now: Instant) -> Spending {
        let recent = self.entries.iter().rev();
        let recent = recent.take_while(|entry| now.duration_since(entry.at) < within);
        let counts = recent.filter(|entry| Some(&entry.action) != but);
        counts.fold(Spending::default(), |sum, entry| sum + entry.spending)
    }

    fn forget_old(&mut self, now: Instant) {
        let is_old = |entry: &Entry| now.duration_since(entry.at) >= self.kept;
        while self.entries.front().is_some_and(is_old) {
            self.entries.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn files(files: u64) -> Spending {
        Spending {
            files,
            ..Spending::default()
        }
    }

    fn budget(files: u64, within: Duration) -> Budget {
        Budget {
            files: Some(files),
            bytes: None,
            deletions: None,
            within,
        }
    }

    #[test]
    fn what_was_spent_counts_until_its_time_is_over_and_is_forgotten_a_day_later() {
        let (mut accounts, began) = (Accounts::default(), Instant::now());
        let mut spend = |number: u64, hours: u32, within| {
            let (id, now) = (ActionId::from(number.to_string()), began + HOUR * hours);
            accounts.spend("one", &id, files(6), &budget(10, within), now)
        };
        assert_eq!(spend(1, 0, HOUR), Spent::Within);
        assert_eq!(spend(2, 0, HOUR), Spent::Exceeded { already: files(6) });
        assert_eq!(spend(2, 1, HOUR), Spent::Within);
        let all = |hours: u32, accounts: &Accounts| {
            accounts.spent("one", Duration::MAX, began + HOUR * hours)
        };
        assert_eq!(spend(3, 24, HOUR), Spent::Within);
        assert_eq!(all(24, &accounts), files(12));
        let other = ActionId::from("other");
        let at = began + HOUR * 48;
        let spent = accounts.spend("other", &other, files(1), &budget(1, HOUR), at);
        assert_eq!(spent, Spent::Within);
        assert_eq!(accounts.0.keys().collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn what_a_longer_budget_counts_is_kept_for_as_long() {
        let (mut accounts, began) = (Accounts::default(), Instant::now());
        let week = HOUR * 24 * 7;
        let mut spend = |id: &str, at| {
            let id = ActionId::from(id);
            accounts.spend("one", &id, files(1), &budget(1, week), at)
        };
        assert_eq!(spend("a", began), Spent::Within);
        let late = spend("b", began + week - HOUR);
        assert_eq!(late, Spent::Exceeded { already: files(1) });
        assert_eq!(spend("b", began + week), Spent::Within);
    }
}
