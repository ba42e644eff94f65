"""The page: a folder of static files that opens from disk, without a network."""
