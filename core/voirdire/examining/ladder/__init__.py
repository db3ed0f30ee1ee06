"""Version 0.1's verdict: one rung for each judge and attribute, from the systems' means.

It stands apart as a whole, because the verdict by use takes its place.
"""
