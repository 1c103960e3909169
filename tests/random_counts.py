"""Random sparse matrices; SciPy's own function names its generator differently from version to version."""

import numpy as np
from scipy import sparse


def random_counts(rng, shape, density, values=np.ones):
    """Return a CSR array with a share of its cells filled by ``values(size)``."""
    size = int(density * shape[0] * shape[1])
    places = np.sort(rng.choice(shape[0] * shape[1], size, replace=False))
    return sparse.csr_array((values(size), np.divmod(places, shape[1])), shape=shape)
