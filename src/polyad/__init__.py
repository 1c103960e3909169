"""polyad: latent linear models by the method of moments."""

import logging
from typing import TYPE_CHECKING

from polyad.base.lazy import lazily

if TYPE_CHECKING:
    from polyad.io import load
    from polyad.metrics import align
    from polyad.models import (
        ICA,
        LDA,
        DiscreteCCA,
        DiscreteICA,
        HiddenMarkov,
        IndependentFactors,
        MixedCCA,
        MultiViewMixture,
        NoisyDiscreteICA,
        NonGaussianCCA,
        PolylingualLDA,
        SingleTopic,
        SphericalMixture,
        bootstrap,
        select_n_components,
    )
    from polyad.models.stream import merge

__version__ = "0.1.0"

__all__ = [
    "ICA",
    "LDA",
    "DiscreteCCA",
    "DiscreteICA",
    "HiddenMarkov",
    "IndependentFactors",
    "MixedCCA",
    "MultiViewMixture",
    "NoisyDiscreteICA",
    "NonGaussianCCA",
    "PolylingualLDA",
    "SingleTopic",
    "SphericalMixture",
    "__version__",
    "align",
    "bootstrap",
    "load",
    "merge",
    "select_n_components",
]

logging.getLogger("polyad").addHandler(logging.NullHandler())

# Where the public names are that are no models. All are imported when they are first asked for: numba and scikit-learn
# take seconds, and `polyad --help` needs neither.
_HOMES = {"polyad.io": ("load",), "polyad.metrics": ("align",), "polyad.models.stream": ("merge",)}
_OTHERS = {"__version__"}.union(*_HOMES.values())
# Packages that are public as a whole, such as polyad.datasets.
_PACKAGES = ("corpus", "datasets", "decompose", "engine", "inference", "io", "metrics", "models", "moments")

__getattr__, __dir__ = lazily(
    __name__, {**_HOMES, "polyad.models": [name for name in __all__ if name not in _OTHERS]}, _PACKAGES
)
