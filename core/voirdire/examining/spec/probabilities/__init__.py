"""Probabilities: what their components rest on, and the components themselves."""
