"""The whole line, from a name to a submission; the only package that knows all others."""
