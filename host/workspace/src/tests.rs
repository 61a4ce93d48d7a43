mod crash;
mod model;
mod script;
