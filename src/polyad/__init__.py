"""polyad: latent linear models by the method of moments."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

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

# Where each public name is. They are imported when they are first asked for: numba and scikit-learn take seconds,
# and `polyad --help` needs neither.
_HOMES = {
    "ICA": "polyad.models",
    "LDA": "polyad.models",
    "DiscreteCCA": "polyad.models",
    "DiscreteICA": "polyad.models",
    "HiddenMarkov": "polyad.models",
    "IndependentFactors": "polyad.models",
    "MixedCCA": "polyad.models",
    "MultiViewMixture": "polyad.models",
    "NoisyDiscreteICA": "polyad.models",
    "NonGaussianCCA": "polyad.models",
    "PolylingualLDA": "polyad.models",
    "SingleTopic": "polyad.models",
    "SphericalMixture": "polyad.models",
    "align": "polyad.metrics",
    "bootstrap": "polyad.models",
    "load": "polyad.io",
    "merge": "polyad.models.stream",
    "select_n_components": "polyad.models",
}

logging.getLogger("polyad").addHandler(logging.NullHandler())


# Packages that are public as a whole, such as polyad.datasets.
_PACKAGES = ("corpus", "datasets", "decompose", "engine", "inference", "io", "metrics", "models", "moments")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"polyad.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'polyad' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})
