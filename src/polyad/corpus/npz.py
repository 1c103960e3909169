"""The npz of `scipy.sparse.save_npz`."""

from __future__ import annotations

from typing import Any

from scipy.sparse import load_npz

from polyad.corpus.documents import CorpusError
from polyad.corpus.streams import ByteStream, seekable

__all__ = ["read_npz"]


def read_npz(stream: ByteStream) -> Any:
    """Read what `scipy.sparse.save_npz` wrote. Nothing in the file is ever run: pickled objects are refused."""
    with seekable(stream) as file:
        try:
            matrix: Any = load_npz(file)
            # scipy trusts the indices of the file; out of bounds they would lead into foreign memory.
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)
            return matrix.tocoo()
        # Damaged files raise errors of many kinds inside the library; all of them mean the same to the caller.
        except Exception as error:
            raise CorpusError(
                f"the file is not a sparse matrix saved by scipy.sparse.save_npz ({error})", path=stream.name
            ) from error
