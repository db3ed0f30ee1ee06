"""Does an annotator repeat itself? Label counts over runs, final labels, kappas: frames throughout.

The order of work: `runs_of_ratings` or `runs_of_replies`, then any of the frames made from it, or
`consistency_sections` for all of them as a report's tables.
"""

from voirdire.examining.consistency._agreement import (
    AVERAGE,
    agreement_frame,
    joint_agreement_frame,
    label_agreements,
)
from voirdire.examining.consistency._counts import label_counts, largest_counts
from voirdire.examining.consistency._final import (
    INCOMPLETE,
    LABELLED,
    UNSURE,
    final_labels,
    label_distribution,
    threshold_of,
)
from voirdire.examining.consistency._ratings import runs_of_ratings
from voirdire.examining.consistency._replies import reply_states, runs_of_replies, unknown_labels
from voirdire.examining.consistency._runs import LabelRuns
from voirdire.examining.consistency._sections import consistency_sections, temperature_notes
from voirdire.examining.consistency._session import label_replies

__all__ = [
    "AVERAGE",
    "INCOMPLETE",
    "LABELLED",
    "UNSURE",
    "LabelRuns",
    "agreement_frame",
    "consistency_sections",
    "final_labels",
    "joint_agreement_frame",
    "label_agreements",
    "label_counts",
    "label_distribution",
    "label_replies",
    "largest_counts",
    "reply_states",
    "runs_of_ratings",
    "runs_of_replies",
    "temperature_notes",
    "threshold_of",
    "unknown_labels",
]
