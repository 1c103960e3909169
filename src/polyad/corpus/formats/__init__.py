"""Documents and counts in and out: one module for each format, and what the formats share."""
