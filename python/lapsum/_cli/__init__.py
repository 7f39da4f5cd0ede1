"""What `python -m lapsum` runs: the only part of the package that prints."""
