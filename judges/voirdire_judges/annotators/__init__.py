"""Annotators: they label items from a declared set, and never call a model themselves."""
