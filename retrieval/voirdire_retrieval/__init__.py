"""Retrieval of few-shot examples: embedders, FAISS index, example selector."""
