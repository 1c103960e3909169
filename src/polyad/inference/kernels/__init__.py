"""Compiled loops: the E and M steps, held-out likelihood, and chains."""
