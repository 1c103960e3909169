"""How a worker's allocator treats memory that was freed."""

import ctypes
import os
from functools import cache

SETTING = "MALLOC_TRIM_THRESHOLD_"  # Dask's nannies start workers with 65536 here
# Parameters of mallopt (malloc.h of glibc), and where glibc itself ends when a process frees arrays of such sizes.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MAPPED_FROM, KEPT_TO = 32 << 20, 64 << 20


@cache
def keep_freed_memory() -> bool:
    """Let this process keep up to 64 MB of what was freed for the arrays that come next; tell whether it was changed.

    With the setting of Dask's nannies glibc maps every array of more than 128 KB anew, and gives it back as soon as it
    is freed. A pass makes and frees some for every block, and the page faults of that take as long as its products.
    Without any setting glibc learns from what is freed to keep it; the limits here are the ones it learns. A worker
    with another setting of its owner keeps it.
    """
    if os.environ.get(SETTING) != "65536":
        return False
    try:
        change = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # not glibc
        return False
    return bool(change(M_MMAP_THRESHOLD, MAPPED_FROM) and change(M_TRIM_THRESHOLD, KEPT_TO))
