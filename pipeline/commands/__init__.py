"""The command line, one file a group; what a command needs is imported when it runs."""
