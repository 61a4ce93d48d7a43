pub fn tools() {}
