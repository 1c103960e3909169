"""Passes on a Dask cluster: the runner, and what runs on the workers."""
