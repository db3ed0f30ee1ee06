"""Classifiers: `tfidf`, `hf`, `llm`; and the grid in which they are trained and tested."""
