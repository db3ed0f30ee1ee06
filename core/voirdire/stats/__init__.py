"""Pure reliability statistics: arrays in, frozen results out."""
