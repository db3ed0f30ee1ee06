"""MentalAlign-70k (Badawi et al. 2025): four judges, seven attributes, nine systems and a human."""
