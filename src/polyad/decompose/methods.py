"""Every method of diagonalisation in one table; all have one signature.

``method(stack, *, directions=None, max_iter=None, tol=1e-10)``: what kind of diagonal form it looks for, what it must
be given, and which words of a corpus it wants as directions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from polyad.decompose.congruence import congruence
from polyad.decompose.orthogonal.jacobi import jacobi, jacobi_of_projections
from polyad.decompose.orthogonal.least_squares import least_squares
from polyad.decompose.orthogonal.pairwise import com2
from polyad.decompose.orthogonal.power import power, tensor_power
from polyad.decompose.orthogonal.spectral import spectral, svtd
from polyad.decompose.similarity.first_order import similarity_first_order
from polyad.decompose.similarity.schur import similarity_schur
from polyad.decompose.similarity.spectral import similarity_spectral
from polyad.decompose.similarity.sweeps import similarity_jacobi

Kind = Literal["rotation", "similarity", "congruence"]
Words = Literal["none", "frequent", "all", "summed"]


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name
        By which it is asked for, among those of its kind.
    kind
        "rotation": V' A_p V are diagonal for a rotation V; "similarity": Q^-1 A_p Q; "congruence": B A_p B'.
    function
        With the signature that all share.
    takes
        "tensor": a symmetric K x K x K tensor and nothing else; "stack": any stack of matrices of its kind.
    words
        Directions of words that it wants where there are words: "frequent" ones, "all", or all "summed" up in K
        directions with the same inner products.
    reads_rows
        Whether components are read off the word rows of the third moment, as SVTD does, and not off the second moment.
    """

    name: str
    kind: Kind
    function: Callable[..., Any]
    takes: Literal["tensor", "stack"] = "stack"
    words: Words = "none"
    reads_rows: bool = False


METHODS = (
    Method("jacobi", "rotation", jacobi),
    Method("power", "rotation", power, "tensor"),
    Method("tensor_power", "rotation", tensor_power, "tensor"),
    Method("spectral", "rotation", spectral),
    Method("svtd", "rotation", svtd, words="frequent", reads_rows=True),
    Method("svtd_all", "rotation", svtd, words="all", reads_rows=True),
    Method("jd_k", "rotation", jacobi_of_projections),
    Method("jd_f", "rotation", jacobi, words="summed"),
    Method("com2", "rotation", com2, "tensor"),
    Method("als", "rotation", least_squares, "tensor"),
    Method("exact", "similarity", similarity_jacobi),
    Method("sh-rt", "similarity", partial(similarity_jacobi, shear="sh-rt")),
    Method("just", "similarity", partial(similarity_jacobi, shear="just")),
    Method("jdtm", "similarity", partial(similarity_jacobi, shear="jdtm")),
    Method("first_order", "similarity", similarity_first_order),
    Method("schur", "similarity", similarity_schur),
    Method("spectral", "similarity", similarity_spectral),
    Method("congruence", "congruence", congruence),
)


def functions(kind: Kind) -> dict[str, Callable[..., Any]]:
    """Return the methods of a kind by their names.

    Examples
    --------
    >>> sorted(functions("congruence"))
    ['congruence']
    """
    return {method.name: method.function for method in METHODS if method.kind == kind}


def chosen(kind: Kind, method: Any) -> Callable[..., Any]:
    """Return a method of a kind by its name; a callable with the same signature is returned as it is."""
    if callable(method):
        return method
    known = functions(kind)
    if method not in known:
        names = ", ".join(repr(name) for name in known)
        raise ValueError(f"method is {method!r}; give one of {names}, or a callable.")
    return known[method]


def rotation_method(method: Any) -> Method:
    """Return what is known of a method of rotation: its name and itself are the same.

    Of a callable that is none of them, it is known that it takes a stack and no words.

    Examples
    --------
    >>> rotation_method("svtd").reads_rows, rotation_method(svtd).reads_rows, rotation_method(power).reads_rows
    (True, True, False)
    """
    found = [known for known in METHODS if known.kind == "rotation" and method in (known.name, known.function)]
    return found[0] if found else Method("", "rotation", method)
