"""Likelihood passes of mixtures and of hidden chains."""
