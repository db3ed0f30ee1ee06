"""Labels and label sets: what their components rest on, and the components themselves."""
