"""Ratings against a reference: the cube, its pairings, and the results of each judge."""
