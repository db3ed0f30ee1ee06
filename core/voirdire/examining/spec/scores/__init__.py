"""Scores: what their components rest on and are computed from."""
