"""What the agents' first candidates reach on a GPU, problem by problem, beside eager and compiled references."""
