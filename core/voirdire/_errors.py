"""Every exception of voirdire, and nothing else.

VoirdireError (a ValueError)
├── InputError              what was handed in cannot be used (exit code 1)
│   ├── TableError          a file, column, row or value
│   ├── StudyError          a key of a study file
│   └── StatisticsError     arrays that a statistic cannot take
├── PluginError             a plugin is broken, unknown or registered twice
│   └── MissingExtraError   the feature needs an extra that is not installed
├── ModelError              a model did not give a usable reply
├── SessionError            a session folder is locked, foreign or damaged
└── RequirementUnmetError   a gate (`--require`) does not hold (exit code 4)
"""

from __future__ import annotations


class VoirdireError(ValueError):
    """Root of all errors that voirdire raises on purpose."""


class InputError(VoirdireError):
    """What was handed in cannot be used; the message names the place and what is allowed."""


class TableError(InputError):
    """A file, column, row or value of a table."""


class StudyError(InputError):
    """A key of a study file."""


class StatisticsError(InputError):
    """Arrays that a statistic cannot take (a wrong shape, an undeclared category)."""


class PluginError(VoirdireError):
    """A plugin is broken, unknown or registered twice."""


class MissingExtraError(PluginError):
    """A feature needs an extra of the distribution that is not installed."""

    def __init__(self, feature: str, extra: str, module: str) -> None:
        super().__init__(
            f"{feature} needs the package {module!r}, which is not installed: "
            f"pip install 'voirdire[{extra}]'"
        )
        self.feature, self.extra, self.module = feature, extra, module


class ModelError(VoirdireError):
    """A model did not give a usable reply."""


class SessionError(VoirdireError):
    """A session folder is locked, foreign or damaged."""


class RequirementUnmetError(VoirdireError):
    """A gate given by `--require` does not hold."""
