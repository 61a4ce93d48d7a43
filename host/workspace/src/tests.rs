mod conflicts;
mod crash;
mod faults_of_others;
mod model;
mod script;
mod strangers;
mod two_hosts;
