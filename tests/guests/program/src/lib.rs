//! The program is an example, so that it is built like the guests.
