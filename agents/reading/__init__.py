"""Reading a reference: its text as straight-line code, terms to compare, and patterns to find in them."""
