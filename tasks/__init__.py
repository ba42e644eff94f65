"""What is asked, and what an answer looks like."""
