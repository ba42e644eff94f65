"""Stand-ins at the lowest seam, whose behaviour is written in what they are given."""
