mod conflicts;
mod crash;
mod faults_of_others;
mod file_systems;
mod model;
mod script;
mod strangers;
mod two_hosts;
