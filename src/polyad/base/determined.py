"""What is called determined, and the warnings about what is not; light enough for a command that only shows a model."""

DETERMINED = 0.5  # certainty from which a component is called determined: noise turns it by less than 45 degrees


class NoiseWarning(UserWarning):
    """More components were asked for than stand out from the noise of the sample."""


class UndeterminedWarning(NoiseWarning):
    """Some components are not determined by the data: others would explain them as well."""
