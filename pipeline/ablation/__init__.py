"""Ways to search, compared on what was recorded: equal evaluations, many seeds, contrasts declared beforehand."""
