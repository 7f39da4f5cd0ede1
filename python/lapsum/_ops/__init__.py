"""The public functions, one module per operation: documentation, then the front end's work."""
