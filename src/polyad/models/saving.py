"""What every model can do with a file."""

import os
from collections.abc import Sequence

from polyad.base.words import Vocabulary


class SavedModel:
    """A model that can be stored."""

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        vocabulary: Vocabulary | Sequence[Vocabulary | None] | None = None,
    ) -> None:
        """Save the fitted model as one file without any code in it; :func:`polyad.load` reads it.

        Parameters
        ----------
        path
            The file, by custom named ``.polyad``; it appears only when it is complete.
        vocabulary
            The words of the columns: a list, an array, or a mapping such as ``CountVectorizer().vocabulary_``; for a
            model of several views one for each. None takes those that the model was fitted with.
        """
        from polyad.io import save  # here, because the file knows the models: the one arrow that points up

        save(self, path, vocabulary=vocabulary)
