"""What it is worth: scores, snapshots, and whether they still hold."""
