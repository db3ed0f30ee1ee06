"""A slow and obvious twin of the shift detector: every start, every length, every offset."""

from __future__ import annotations


def shifted_rows(here, other, *, farthest, shortest):
    """Rows inside any run of at least `shortest` rows that follow `here` at one offset."""
    n = len(here)
    found = set()
    for offset in [d for d in range(-farthest, farthest + 1) if d]:
        follows = [
            here[i]
            and other[i]
            and here[i] != other[i]
            and 0 <= i + offset < n
            and other[i] == here[i + offset]
            for i in range(n)
        ]
        for start in range(n):
            for end in range(start + shortest, n + 1):
                if all(follows[start:end]):
                    found.update(range(start, end))
    return found
