"""The kinds of values that measured calls are asked about; `docs/concepts/integrity.md` says what each is for."""

AGAIN = ("near", "swap")
"""Those that bring the last ones back, nearly."""
BEYOND = "grown"
"""Outside of what a tolerance was measured on: the strict policy alone judges them."""
ANOTHER_SIZE = ("varied", BEYOND)
"""Those that are not of the size that the generator makes, and have a measure of rounding of their own."""
NEVER_TIMED = ("varied", *AGAIN)
"""Asked under every policy, and never timed; `fresh` values are."""
