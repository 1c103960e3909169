"""Moments of signals: ICA and mixtures of Gaussians."""
