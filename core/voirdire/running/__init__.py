"""Running panels: the only room that awaits."""

from voirdire.running._batches import cancel_batches
from voirdire.running._dry import DryRater, dry_run
from voirdire.running._models import completer
from voirdire.running._result import RaterResult, RunResult, session_status
from voirdire.running._run import arun
from voirdire.running._sync import run

__all__ = [
    "DryRater",
    "RaterResult",
    "RunResult",
    "arun",
    "cancel_batches",
    "completer",
    "dry_run",
    "run",
    "session_status",
]
