"""Corpora larger than memory: documents counted once, to a folder of checked shards in the canonical order."""
