"""What was certified of a cascade: a file beside its queue, which a lock then holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from voirdire.files import write_text
from voirdire.study import StudyPart, build_part, read_toml, to_toml

if TYPE_CHECKING:
    from pathlib import Path

HEAD = (
    "# What `voirdire cascade` certified. `voirdire gate freeze --cascade` holds it in a lock,\n"
    "# and each check says whether it still holds.\n\n"
)


class CascadeStage(StudyPart):
    """How sure one can be of one judge's verdict, as it was learned.

    Attributes
    ----------
    levels : tuple of float
        Levels of its score that are a feature each; none: a curve.
    certain : bool
        Whether the probability of its likeliest level is one of the features.
    weights, intercept, logistic
        Of the features (`voirdire.examining.correcting.escalating.Confidence`).
    """

    levels: tuple[float, ...] = ()
    certain: bool = False
    weights: tuple[float, ...] = ()
    intercept: float = 0.0
    logistic: bool = True


class CascadeCertificate(StudyPart):
    """That verdicts of a cascade agree often enough, of judges as they were recorded.

    Attributes
    ----------
    judges : tuple of str
        Who is asked, in this order.
    threshold : float
        A verdict goes out from this confidence on; -inf where all go out.
    agree, risk : float
        Agreement asked for, and how often labels may miss it.
    agreement, low : float
        Agreement with people among `tested` labels' verdicts that go out, and its lower bound.
    released, price, people : float
        Share of responses that need no person; price of a response, and by people alone.
    tolerance, gate
        When a verdict and a label agree.
    stages : tuple of CascadeStage
        Of each judge; none in a certificate that an earlier version wrote, which cannot be run.
    """

    attribute: str
    judges: Annotated[tuple[str, ...], Field(min_length=1)]
    threshold: float
    agree: Annotated[float, Field(gt=0, lt=1)]
    risk: Annotated[float, Field(gt=0, lt=1)]
    agreement: Annotated[float, Field(ge=0, le=1)]
    low: Annotated[float, Field(ge=0, le=1)]
    tested: Annotated[int, Field(ge=1)]
    released: Annotated[float, Field(gt=0, le=1)]
    price: float
    people: float
    tolerance: float = 0.0
    gate: float | None = None
    stages: tuple[CascadeStage, ...] = ()

    @property
    def steps(self) -> str:
        """Who is asked, in words."""
        return ", then ".join(self.judges)


def write_certificate(path: Path, certificate: CascadeCertificate) -> None:
    """Write it, whole or not at all."""
    write_text(path, HEAD + to_toml(certificate.model_dump(mode="python", exclude_defaults=True)))


def read_certificate(path: str | Path) -> CascadeCertificate:
    """Read it.

    Raises
    ------
    InputError
        No such file, not TOML, or a key that is wrong; the message names the file and the key.
    """
    return build_part(CascadeCertificate, read_toml(path, "certificate"), f"certificate {path}")
