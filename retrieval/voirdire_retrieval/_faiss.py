"""The FAISS calls: arrays in, arrays out. Inner products of unit rows, so scores are cosines."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from voirdire.errors import InputError, MissingExtraError, check_allowed, not_one_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from numpy.typing import NDArray

Kind = Literal["exact", "ivf", "hnsw"]
Device = Literal["auto", "cpu", "cuda"]
DEVICES: tuple[Device, ...] = get_args(Device)
KINDS: tuple[Kind, ...] = get_args(Kind)
#: k-means needs some points a list (FAISS warns below 39), and lists near 4 sqrt(n) are usual.
_POINTS_A_LIST = 39
#: FAISS on a GPU returns no more neighbours than this.
GPU_K = 2048


@dataclass(frozen=True, slots=True)
class Placed:
    """An index where it is searched, with the sentence to print if that is not where asked."""

    index: Any
    device: Literal["cpu", "cuda"]
    note: str = ""
    resources: Any = None  # a GPU index dies with its resources


def load_faiss() -> ModuleType:
    """Import faiss; a GPU build finds its CUDA libraries only after torch has loaded them.

    Raises
    ------
    MissingExtraError
        Neither faiss-cpu nor a GPU build is installed.
    """
    try:
        if not _has_cpu_build() and find_spec("torch"):
            import torch  # noqa: F401, PLC0415 - loads the libraries
        import faiss  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("the retrieval index", "faiss-cpu", "faiss") from error
    return faiss


def make(
    vectors: NDArray[np.float32], kind: Kind, given: Mapping[str, int]
) -> tuple[Any, dict[str, int]]:
    """A CPU index over unit rows, and the parameters that it was built with.

    ``exact`` has none; ``ivf`` takes `nlist` and `nprobe`; ``hnsw`` takes `m`, `ef_construction`
    and `ef_search`.
    """
    faiss, (count, size) = load_faiss(), vectors.shape
    used = _parameters(kind, count, given)
    if kind == "exact" or count == 0:
        index = faiss.IndexFlatIP(size)
    elif kind == "ivf":
        index = faiss.IndexIVFFlat(
            faiss.IndexFlatIP(size), size, used["nlist"], faiss.METRIC_INNER_PRODUCT
        )
        index.train(vectors)
        index.nprobe = used["nprobe"]
    else:
        index = faiss.IndexHNSWFlat(size, used["m"], faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = used["ef_construction"]
        index.hnsw.efSearch = used["ef_search"]
    index.add(vectors)
    if kind == "ivf" and count:
        index.make_direct_map()  # rows can be read back
    return index, used


def place(index: Any, wanted: Device) -> Placed:
    """Move an index to a GPU where that is wanted and possible; otherwise say why not."""
    check_allowed("device", [wanted], DEVICES)
    faiss = load_faiss()
    if wanted == "cpu" or (wanted == "auto" and not _gpus(faiss)):
        return Placed(index, "cpu")
    if not _gpus(faiss):
        return Placed(index, "cpu", "faiss sees no GPU (is a GPU build installed?): using the CPU")
    if isinstance(index, faiss.IndexHNSW):
        return Placed(index, "cpu", "FAISS has no HNSW index on a GPU: using the CPU")
    try:
        resources = faiss.StandardGpuResources()
        return Placed(faiss.index_cpu_to_gpu(resources, 0, index), "cuda", "", resources)
    except RuntimeError as error:
        why = str(error).strip().splitlines()[-1]
        return Placed(index, "cpu", f"the GPU could not take the index ({why}): using the CPU")


def search(
    index: Any, queries: NDArray[np.float32], k: int, parameters: Any = None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows and cosines of the k nearest; -1 and NaN where there is none."""
    rows = np.full((len(queries), k), -1, np.int64)
    scores = np.full((len(queries), k), np.nan, np.float32)
    # One product instead of a mask as large as the queries: a NaN anywhere makes the sum NaN.
    usable = np.isfinite(queries @ np.ones(queries.shape[1], np.float32))
    within = min(k, index.ntotal)
    if within and usable.any():
        asked = queries if usable.all() else queries[usable]
        asked = np.ascontiguousarray(asked, np.float32)
        similar, nearest = index.search(asked, within, params=parameters)
        # FAISS gives the least number there is for a neighbour that is not there.
        similar[nearest < 0] = np.nan
        rows[usable, :within], scores[usable, :within] = nearest, similar
    return rows, scores


def search_all(
    index: Any, queries: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """As `search`, of every vector of an approximate CPU index, none passed over."""
    faiss = load_faiss()
    if isinstance(index, faiss.IndexIVF):
        every = faiss.SearchParametersIVF(nprobe=index.nlist)
        return search(index, queries, k, every)
    # Below the graph of HNSW lies a flat index of the same vectors.
    storage = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
    return search(storage, queries, k)


def read_back(index: Any, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of some rows of a CPU index."""
    return np.asarray(index.reconstruct_batch(rows), np.float32).reshape(len(rows), index.d)


def _parameters(kind: Kind, count: int, given: Mapping[str, int]) -> dict[str, int]:
    nlist = max(1, min(int(4 * np.sqrt(count)), count // _POINTS_A_LIST))
    nlist = given.get("nlist", nlist)
    defaults: dict[str, dict[str, int]] = {
        "exact": {},
        "ivf": {"nlist": nlist, "nprobe": min(nlist, max(8, nlist // 8))},
        # Above FAISS's own 40 and 16 (efConstruction, efSearch): recall comes before time,
        # for pools of examples are small.
        "hnsw": {"m": 32, "ef_construction": 200, "ef_search": 128},
    }
    if kind not in defaults:
        raise not_one_of("kind of index", kind, KINDS)
    for name, value in given.items():
        if name not in defaults[kind] or value < 1:
            allowed = ", ".join(defaults[kind]) or "no parameters"
            raise InputError(
                f"an index of kind {kind!r} takes {allowed} of 1 or more, got {name}={value}"
            )
    used = {**defaults[kind], **given}
    if used.get("nprobe", 0) > nlist:
        raise InputError(f"nprobe must be at most nlist, {nlist} here, got {used['nprobe']}")
    if kind == "ivf" and nlist > max(count, 1):
        raise InputError(f"nlist must be at most the number of examples, {count}, got {nlist}")
    return used


def _gpus(faiss: ModuleType) -> int:
    # A CPU build lacks the function; int() is 0.
    return int(getattr(faiss, "get_num_gpus", int)())


def _has_cpu_build() -> bool:
    try:
        return bool(version("faiss-cpu"))
    except PackageNotFoundError:
        return False
