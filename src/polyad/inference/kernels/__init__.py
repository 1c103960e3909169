"""Compiled loops: the E and M steps, variational inference, held-out likelihood, and chains."""
