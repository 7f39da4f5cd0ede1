"""Choosing alpha: a suggestion from the data, and a schedule to anneal it."""
