"""Components, uses and coefficients: one frozen object each, in one registry each.

What is computed, decided, advised, said, drawn, documented and gated of one of them is in its
object; everything else loops over the registries.
"""

from voirdire.lazy import attach
from voirdire.examining.spec import components as components
from voirdire.examining.spec.component import (
    COMPONENTS,
    ChangeRule,
    Component,
    ComponentSpec,
    Estimated,
    Ground,
    GroundBase,
    Lack,
    Next,
    State,
)
from voirdire.examining.spec.labels import specs as label_specs  # noqa: F401 - registers them
from voirdire.examining.spec.preferences import specs as preference_specs  # noqa: F401 - registers them
from voirdire.examining.spec.probabilities import specs as probability_specs  # noqa: F401 - registers them
from voirdire.examining.spec.reasons import ACTIONS, REASONS, Action, Reason
from voirdire.examining.spec.registry import Registry
from voirdire.examining.spec.uses import THESE, TO_COME, USES, Role, Target, UseSpec, Wanted, wanted

__getattr__, __dir__, __all__ = attach(__name__, __file__)
