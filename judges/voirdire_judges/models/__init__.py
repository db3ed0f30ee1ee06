"""Chat models, one file a provider; each imports its SDK only when a model of it is made."""
