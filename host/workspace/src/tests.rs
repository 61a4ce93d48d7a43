mod conflicts;
mod crash;
mod model;
mod script;
mod strangers;
