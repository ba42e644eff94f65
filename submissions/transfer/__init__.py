"""What may be packaged for a GPU that it was not tuned on: ADR 65 is the rule in words."""
