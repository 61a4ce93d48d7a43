//! The host library with real guests. Each module holds one section of the contract.

mod approving;
mod batch_rename;
mod cache;
mod conditions;
mod denying;
mod durable;
mod files;
mod hostile;
mod isolation;
mod limits;
mod loading;
mod moved;
mod native;
mod params;
mod phases;
mod pushing;
mod rehearsing;
mod resolving;
mod schemas;
mod sdk;
mod stale;
mod standing;
mod steering;
mod surroundings;
mod volatile;
mod watching;
