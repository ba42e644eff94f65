"""Tests, by package; fakes in a folder that mirrors the seams."""
