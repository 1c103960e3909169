"""What knows how well the data determine each component."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.determined import DETERMINED


class Certain:
    """Base of what fits tell about themselves."""

    certainty: FloatArray  # of each component, from 0 (not at all) to 1; empty where it is not known

    @property
    def undetermined(self) -> tuple[int, ...]:
        """Numbers of the components that the data do not determine: others would explain them as well."""
        return tuple(int(number) for number in np.flatnonzero(self.certainty < DETERMINED))

    def how_many_determined(self, what: str) -> str:
        """Say how many the data determine of those that were asked for; nothing where it is not known."""
        size = self.certainty.size
        return f"{size - len(self.undetermined)} of {size} {what} determined" if size else ""
