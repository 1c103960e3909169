"""Shards on disk: reading, writing in bounded memory, and rows that are spooled as they come."""
