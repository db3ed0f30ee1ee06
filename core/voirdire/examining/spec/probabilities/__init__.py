"""Probabilities: what their components rest on, and the components themselves."""

#: What is released: what the judge is sure of, and what it is sure is not so.
ABOVE, BELOW = "above", "below"
