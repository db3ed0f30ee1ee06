"""The runner: the only room that awaits."""
