"""Moments of counts: LDA, the single-topic model, discrete ICA; weights, bounds and the total concentration."""
