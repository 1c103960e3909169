"""polyad: latent linear models by the method of moments."""

import logging

from polyad.models import LDA, DiscreteICA, SingleTopic

__version__ = "0.1.0"

__all__ = ["LDA", "DiscreteICA", "SingleTopic", "__version__"]

logging.getLogger("polyad").addHandler(logging.NullHandler())
