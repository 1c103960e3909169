"""Types of arrays, and their precision."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]  # of double precision, or of single where the data are


def in_precision_of(X: Any, found: FloatArray) -> Floats:
    """Return what was found in single precision where X has it, as scikit-learn does, otherwise as it is.

    Examples
    --------
    >>> in_precision_of(np.ones(2, np.float32), np.ones(3)).dtype, in_precision_of([1, 2], np.ones(3)).dtype
    (dtype('float32'), dtype('float64'))
    """
    is_lazy = hasattr(X, "collect") and hasattr(X, "lazy")  # a table that is only computed when it is asked for
    types = [X.dtype] if hasattr(X, "dtype") else [] if is_lazy else list(getattr(X, "dtypes", ()))
    is_single = len(types) > 0 and all(str(kind).lower() == "float32" for kind in types)
    return found.astype(np.float32) if is_single else found
