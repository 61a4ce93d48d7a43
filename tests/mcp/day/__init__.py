"""The parts of day.py: the project, the agent, its tasks, and the page that compares the ways to do them."""
