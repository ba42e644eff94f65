"""Models behind the tuner, a file each."""
