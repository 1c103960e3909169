"""Measures: how well parameters were recovered, and how diagonal a decomposition is."""

from polyad.metrics.diagonality import off_diagonal_energy
from polyad.metrics.recovery import amari_distance, l1_error, match_rows

__all__ = ["amari_distance", "l1_error", "match_rows", "off_diagonal_energy"]
