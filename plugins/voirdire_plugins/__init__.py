"""The four papers as built-in plugins."""
