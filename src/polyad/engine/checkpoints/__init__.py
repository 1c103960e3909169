"""Checkpoints: a runner that keeps the result of every pass, so that a run which was cut short goes on."""
