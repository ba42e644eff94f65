"""Is it right, is it fast, and how sure are we."""
