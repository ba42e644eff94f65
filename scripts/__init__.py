"""Thin front doors and makers of committed data."""
