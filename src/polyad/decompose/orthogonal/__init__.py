"""Diagonalisation by rotations: interchangeable methods with one signature."""
