"""The admission audit of a problem: `admission` asks, `answers` answers from inside the reference process."""
