"""Models of signals."""
