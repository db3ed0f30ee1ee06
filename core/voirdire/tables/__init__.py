"""Files to tidy Polars frames, and the audit of the data."""
