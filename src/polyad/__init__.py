"""polyad: latent linear models by the method of moments."""

import logging

from polyad.metrics import align
from polyad.models import LDA, DiscreteICA, SingleTopic, bootstrap, select_n_components

__version__ = "0.1.0"

__all__ = ["LDA", "DiscreteICA", "SingleTopic", "__version__", "align", "bootstrap", "select_n_components"]

logging.getLogger("polyad").addHandler(logging.NullHandler())
