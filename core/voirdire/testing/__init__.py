"""Contract tests for plugins: one a kind, for a plugin's own tests and `voirdire plugins check`.

Each takes what a plugin registers, tries it on mild and on hostile input, and raises a
`ContractError` that lists all that does not hold, with a hint each::

    from voirdire.testing import check_judge
    from my_plugin.judge import make


    def test_it_keeps_the_contract():
        check_judge(make, answers={'{"answer": "yes"}': {"next_step": 5}})
"""

from __future__ import annotations

from voirdire._manager import load as load_plugins
from voirdire.testing.benchmarks import check_benchmark
from voirdire.testing.classifiers import check_classifier
from voirdire.testing.contracts import CONTRACTS, Outcome, check_registered
from voirdire.testing.executors import check_executor
from voirdire.testing.hostile import HEADS, REPLIES, TEXTS
from voirdire.testing.makers import check_maker
from voirdire.testing.models import check_model
from voirdire.testing.optimizers import check_optimizer
from voirdire.testing.probes import check_probe
from voirdire.testing.raters import check_annotator, check_generator, check_judge
from voirdire.testing.readers import check_reader
from voirdire.testing.selectors import check_selector
from voirdire.testing.tools import check_tool

__all__ = [
    "CONTRACTS",
    "HEADS",
    "REPLIES",
    "TEXTS",
    "Outcome",
    "check_annotator",
    "check_benchmark",
    "check_classifier",
    "check_executor",
    "check_generator",
    "check_judge",
    "check_maker",
    "check_model",
    "check_optimizer",
    "check_probe",
    "check_reader",
    "check_registered",
    "check_selector",
    "check_tool",
    "load_plugins",
]
