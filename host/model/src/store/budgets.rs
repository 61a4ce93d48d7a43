//! The budgets of a store.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::{Budget, Spending, Spent, StoreError};
use crate::pending::ActionId;

/// The spending of accounts, which rules limit by budgets. Sessions don't use it.
#[async_trait]
pub trait Budgets: fmt::Debug + Send + Sync + 'static {
    /// Records what an action is about to spend, if the budget has room. Together with the
    /// account's other actions within [`Budget::within`], it must not exceed any limit. All
    /// sessions, processes and hosts that use the store count together, and concurrent callers
    /// can't exceed the budget.
    ///
    /// `account` is the owner of the budget, as any text. The caller derives it from the workspace
    /// and the operator, in the same way wherever the store is used. Accounts share nothing.
    ///
    /// An action counts once. If the account already has an entry for it, the new entry replaces it
    /// and counts from now on. So retrying an apply spends nothing more, and [`Spending::default`]
    /// gives back what was spent for an apply that was not tried. If the future is dropped before
    /// it returns, the entry may have been recorded.
    ///
    /// The time is that of the store: the server's, or the machine's. If that clock is set back,
    /// earlier spending counts as if it had just happened.
    ///
    /// Entries that are older than a day and than their budget's period are dropped. Entries take
    /// no [room](super::Stacks::room), since the actions of a full store must remain resolvable.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be written. The entry may have been recorded
    /// then.
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError>;

    /// Returns what the account's actions have spent within a period, as counted by
    /// [`spend`](Budgets::spend), without recording anything.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError>;
}
