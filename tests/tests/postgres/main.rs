//! Sessions whose store is on a PostgreSQL server: a fleet of hosts that are killed, and what
//! earlier versions left.

mod fleet;
mod versions;
