"""`retrieve`: passages near to what an agent judge asks for, from an index of ours."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, check_columns
from voirdire.tools import AgentTool
from voirdire_retrieval._embed import embed_texts
from voirdire_retrieval._embedders import open_embedder
from voirdire_retrieval._storage import load_index

if TYPE_CHECKING:
    from voirdire.study import Study

#: Passages of one result, and characters of each.
MOST, SHOWN = 20, 1_200


def make(  # noqa: PLR0913 - each is an option of the study
    index: str,
    *,
    k: int = 3,
    least: float = 0.0,
    embedder: Any = "",
    columns: tuple[str, ...] = (),
    name: str = "retrieve",
    description: str = "",
    device: Any = "auto",
    base_url: str = "",
    api_key_env: str = "",
    study: Study | None = None,
) -> AgentTool:
    """The tool (`tools = [{use = "retrieve", index = "guideline-index"}]`).

    Parameters
    ----------
    index : str
        A folder that `voirdire index build` made, relative to the study.
    k : int
        Passages of one result, from 1 to 20; the model may ask for fewer.
    least : float
        Cosine below which a passage is not shown.
    embedder, device, base_url, api_key_env
        As `open_embedder` takes them; by default the model that the index was made with.
    columns : sequence of str
        What is shown beside a passage's text, such as its source.
    name, description : str
        What the model reads of the tool.

    Raises
    ------
    InputError
        No index, another embedder than the index was made with, a column that it lacks.
    MissingExtraError
        The embedder's package is not installed.
    """
    if not 1 <= k <= MOST:
        raise InputError(f"tool {name!r}: k must be from 1 to {MOST}, got {k!r}")
    folder = Path(study.folder if study is not None else ".") / index
    # Twice: the card names the model to open, and only with the model is the index checked.
    card = load_index(folder, device="cpu").card
    opened = open_embedder(
        embedder or card.model, device=device, base_url=base_url, api_key_env=api_key_env
    )
    loaded = load_index(folder, opened, device)
    check_columns(str(folder), columns, loaded.frame.columns)
    at_once = threading.Lock()  # few embedders can take several calls at once

    def retrieved(query: str, k: int = k) -> list[dict[str, Any]] | str:
        if not 1 <= k <= MOST:
            raise ValueError(f"k must be from 1 to {MOST}")
        with at_once:
            vectors = embed_texts(opened, [query]).vectors
            hits = loaded.search(vectors, k, opened.name)
        near = [
            (int(row), float(score))
            for row, score in zip(hits.rows[0], hits.scores[0], strict=True)
            if row >= 0 and not np.isnan(score) and score >= least
        ]
        rows = loaded.frame[[row for row, _ in near]].iter_rows(named=True)
        passages = [
            {
                "text": row["text"][:SHOWN],
                **{column: row[column] for column in columns},
                "similarity": round(score, 3),
            }
            for row, (_, score) in zip(rows, near, strict=True)
        ]
        return passages or "There is no passage near to that."

    purpose = description or "Passages near in meaning to a query, the nearest first."
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what the passages should speak of"},
            "k": {"type": "integer", "description": f"how many, at most {MOST}"},
        },
        "required": ["query"],
    }
    return AgentTool(name, purpose, schema, retrieved, reads=index, timeout=60.0)
