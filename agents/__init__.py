"""Who proposes: agents that ask for nothing but a task and are told nothing but verdicts."""
