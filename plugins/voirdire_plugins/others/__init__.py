"""Judges in others' runs: what another tool asks for a score, kept in a session to be examined.

Each module imports its tool where it is used, and none is needed otherwise.
"""
