"""The canonical order of rows: it depends on what is in them, and not on where they stand."""
