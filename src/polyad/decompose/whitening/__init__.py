"""Whitening: a basis in which the second moment is the identity, of one view or between two."""
