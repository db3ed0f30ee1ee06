"""Ratings that need not fit into memory: the same examination, as sums over parts."""
