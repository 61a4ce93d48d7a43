//! Budgets: limits on the combined effects of actions within a period, across all callers.

use std::ops::Add;
use std::time::Duration;

/// The minimum time for which a store remembers [spending](super::Budgets::spend).
pub const SPENDING_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The size of the effects of one or several actions.
///
/// Stores count each number up to [`Spending::MAX`], and sums end there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spending {
    /// Changed files.
    pub files: u64,
    /// Written bytes.
    pub bytes: u64,
    /// Deleted files and folders.
    pub deletions: u64,
}

impl Spending {
    /// The maximum that is counted. Higher numbers count as this one.
    pub const MAX: u64 = i64::MAX as u64;

    /// Returns the spending as stores keep it: each number is at most [`Spending::MAX`].
    pub fn capped(self) -> Self {
        self.map(|number| number.min(Self::MAX))
    }

    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        Self {
            files: change(self.files),
            bytes: change(self.bytes),
            deletions: change(self.deletions),
        }
    }
}

/// Adds up each number, to at most [`Spending::MAX`].
impl Add for Spending {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = Self {
            files: self.files.saturating_add(other.files),
            bytes: self.bytes.saturating_add(other.bytes),
            deletions: self.deletions.saturating_add(other.deletions),
        };
        sum.capped()
    }
}

/// A limit on the spending within a period. A limit of [`Spending::MAX`] or more means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The maximum number of changed files; `None` means no limit.
    pub files: Option<u64>,
    /// The maximum number of written bytes.
    pub bytes: Option<u64>,
    /// The maximum number of deleted files and folders.
    pub deletions: Option<u64>,
    /// The period. Older spending doesn't count.
    pub within: Duration,
}

impl Budget {
    /// Returns true if this much more may be spent, in addition to what was spent within the
    /// period. A limit doesn't apply to an action that spends nothing of its kind, even if it was
    /// lowered since.
    pub fn allows(&self, already: Spending, more: Spending) -> bool {
        let sum = already + more;
        let fits = |limit: Option<u64>, more: u64, sum: u64| match limit {
            Some(limit) => more == 0 || sum <= limit,
            None => true,
        };
        fits(self.files, more.files, sum.files)
            && fits(self.bytes, more.bytes, sum.bytes)
            && fits(self.deletions, more.deletions, sum.deletions)
    }

    /// Returns how long spending under this budget is remembered.
    pub fn retention(&self) -> Duration {
        self.within.max(SPENDING_KEPT)
    }
}

/// The answer to [`Budgets::spend`](super::Budgets::spend).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "what exceeds the budget is not to be applied"]
pub enum Spent {
    /// The action was within the budget and counts from now on.
    Within,
    /// The action would exceed the budget. Nothing was recorded.
    Exceeded {
        /// The spending of the account's other actions within the budget's period.
        already: Spending,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(files: u64, bytes: u64, deletions: u64) -> Spending {
        Spending {
            files,
            bytes,
            deletions,
        }
    }

    const NO_LIMIT: Budget = Budget {
        files: None,
        bytes: None,
        deletions: None,
        within: Duration::from_secs(3600),
    };

    #[test]
    fn each_limit_may_be_reached_and_none_passed() {
        let already = spending(9, 90, 1);
        for (budget, more, allowed) in [
            (NO_LIMIT, spending(u64::MAX, u64::MAX, u64::MAX), true),
            (
                Budget {
                    files: Some(10),
                    ..NO_LIMIT
                },
                spending(1, u64::MAX, 7),
                true,
            ),
            (
                Budget {
                    files: Some(10),
                    ..NO_LIMIT
                },
                spending(2, 0, 0),
                false,
            ),
            (
                Budget {
                    bytes: Some(100),
                    ..NO_LIMIT
                },
                spending(0, 11, 0),
                false,
            ),
            (
                Budget {
                    deletions: Some(1),
                    ..NO_LIMIT
                },
                spending(0, 0, 1),
                false,
            ),
        ] {
            assert_eq!(budget.allows(already, more), allowed, "{budget:?} {more:?}");
        }
    }

    #[test]
    fn what_an_action_does_nothing_of_is_not_too_much_where_a_limit_was_lowered() {
        let budget = Budget {
            files: Some(5),
            ..NO_LIMIT
        };
        let already = spending(9, 0, 0);
        assert!(budget.allows(already, spending(0, 100, 1)));
        assert!(!budget.allows(already, spending(1, 0, 0)));
    }

    #[test]
    fn sums_neither_wrap_nor_pass_what_a_store_can_keep() {
        let huge = spending(u64::MAX, u64::MAX, Spending::MAX);
        let most = Spending::MAX;
        assert_eq!(huge + huge, spending(most, most, most));
        let budget = |limit| Budget {
            bytes: Some(limit),
            ..NO_LIMIT
        };
        assert!(!budget(most - 1).allows(huge, spending(0, 1, 0)));
        for no_limit in [most, u64::MAX] {
            assert!(budget(no_limit).allows(huge, huge));
        }
    }
}
