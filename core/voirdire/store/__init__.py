"""Replies, kept as they came; frames derived from them."""
