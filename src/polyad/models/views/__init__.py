"""Models of two or more views of the same samples."""
