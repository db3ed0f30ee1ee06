"""Loops that Numba compiles, and what stands in for them until compiling pays.

Loading Numba costs half a second of processor time, more than the loops of most examinations take.
So a kernel may name a stand-in that gives the same bits, and that is used until so much time went
into stand-ins: at worst the loops then took twice as long as they would have.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds that go into stand-ins before Numba is loaded: what loading it costs.
LOADING = 0.5
#: Numbers in its arguments with which a stand-in is called at most.
MOST_IN_NUMPY, MOST_IN_PYTHON = 4_000_000, 2_000

#: Every kernel by its name; its module holds the machine code in its place once there is any.
KERNELS: dict[str, Kernel] = {}

# Two threads may need the first kernel of a module at the same moment.
_lock = threading.RLock()
_spent = 0.0


class Kernel:
    """A loop of a module, compiled together with the module's others on its first real use."""

    def __init__(
        self,
        python: Callable[..., Any],
        signature: tuple[str, ...],
        stand_in: Callable[..., Any] | None,
        options: dict[str, Any],
    ) -> None:
        self.python, self.signature, self.options = python, signature, options
        self.stand_in = stand_in
        # A loop in Python takes far longer for a number than one in NumPy.
        self.most = MOST_IN_PYTHON if stand_in is python else MOST_IN_NUMPY
        self.machine: Callable[..., Any] | None = None
        KERNELS[python.__name__] = self

    def __call__(self, *arguments: Any) -> Any:
        """The stand-in's result while there is little to do, then the machine code's: equal."""
        if self.machine is None:
            if self.stand_in is not None and _spent < LOADING and self._is_little(arguments):
                return _timed(self.stand_in, arguments)
            return self.compiled()(*arguments)
        return self.machine(*arguments)

    def compiled(self) -> Callable[..., Any]:
        """The machine code; all kernels of the module are compiled together."""
        _compile(self.python.__globals__)
        return self.python.__globals__[self.python.__name__]

    def _is_little(self, arguments: tuple[Any, ...]) -> bool:
        return sum(getattr(one, "size", 1) for one in arguments) <= self.most


def njit(
    *signature: str, stand_in: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit(cache=True)`, put off until it pays where there is a stand-in."""
    return lambda function: Kernel(function, signature, stand_in, options)


def interpreted(*signature: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`njit` with the loop itself as the stand-in: for a few numbers Python is fast enough."""
    return lambda function: Kernel(function, signature, function, options)


def _timed(stand_in: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    global _spent  # noqa: PLW0603 - one account for all kernels: Numba is loaded once
    # Of this thread's processor: time spent waiting for others would load Numba too early.
    began = time.thread_time()
    try:
        return stand_in(*arguments)
    finally:
        _spent += time.thread_time() - began


def _compile(module: dict[str, Any]) -> None:
    """Put machine code in the place of every kernel of a module: kernels call one another."""
    with _lock:
        for name, kernel in list(module.items()):
            # Kernels that were imported from another module are compiled with those of theirs.
            if isinstance(kernel, Kernel) and kernel.python.__globals__ is module:
                if kernel.machine is None:
                    kernel.machine = _machine_code(kernel)
                module[name] = kernel.machine


def _machine_code(kernel: Kernel) -> Any:
    """Cached on disk where a folder can be written."""
    import numba  # noqa: PLC0415 - what is put off

    try:
        return numba.njit(*kernel.signature, cache=True, **kernel.options)(kernel.python)
    except RuntimeError:  # numba's word for "no folder to cache in"
        return numba.njit(*kernel.signature, **kernel.options)(kernel.python)
