"""A runner that checks what passes promise: they can be sent elsewhere, run again, and write to their result alone."""

import hashlib
import pickle
from dataclasses import fields, is_dataclass

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy import sparse

from polyad.engine import Threads


def fingerprint(value):
    """Return a digest of arrays and numbers, however they are nested."""
    digest = hashlib.blake2b()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest, value):
    if isinstance(value, np.ndarray):
        digest.update(str((value.dtype, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
    elif sparse.issparse(value):
        for part in (value.data, value.indices, value.indptr):
            _feed(digest, part)
    elif is_dataclass(value):
        for field in fields(value):
            _feed(digest, getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for part in value:
            _feed(digest, part)
    else:
        digest.update(repr(value).encode())


class Checking(Threads):
    """Runs every function of a pass twice, the second time as it comes out of a pickle, and compares.

    Attributes
    ----------
    seen
        The functions that were run, by name.
    tasks
        For each of them one call as a pickle, and the digest of its result.
    """

    def __init__(self):
        super().__init__(1)
        self.seen, self.tasks = set(), {}

    def total(self, function, source, /, *shared):
        return super().total(self._checked(function), source, *shared)

    def step(self, function, source, states, /, *shared):
        return super().step(self._checked(function), source, states, *shared)

    def rows(self, function, source, /, *shared):
        return super().rows(self._checked(function), source, *shared)

    def _checked(self, function):
        name = f"{function.__module__}.{function.__qualname__}"
        assert "<" not in name, f"{name} cannot be sent elsewhere"

        def call(*arguments):
            assert not any(isinstance(it, Dispatcher) for it in arguments), f"{name} is given a compiled loop to send"
            task = pickle.dumps((function, arguments))
            before = fingerprint(arguments)
            result = function(*arguments)
            found = fingerprint(result)
            assert fingerprint(arguments) == before, f"{name} writes to what it was given"
            if name not in self.seen:
                other, others = pickle.loads(task)
                assert fingerprint(other(*others)) == found, f"{name} gives another result when it is run again"
                self.tasks[name] = task, found
            self.seen.add(name)
            return result

        call.__name__ = function.__name__
        return call


def run_task(task):
    """Run a pickled call in this process; return the digest of its result."""
    function, arguments = pickle.loads(task)
    return fingerprint(function(*arguments))
