"""Products by tiles of rows."""
