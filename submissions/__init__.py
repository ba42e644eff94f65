"""What is handed in: packaged, written and verified from its bytes."""
