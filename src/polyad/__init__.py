"""polyad: latent linear models by the method of moments."""

import logging

__version__ = "0.1.0"

logging.getLogger("polyad").addHandler(logging.NullHandler())
