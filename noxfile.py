"""The tests on every Python that is supported, and on the lowest versions that pyproject names.

pip install nox uv
nox                      # 3.11, 3.12, 3.13 and the lowest versions, where they are installed
nox -s tests-3.13        # one of them
nox -s lowest -- -m ""   # all tests, not the quick ones alone
"""

import nox

nox.options.error_on_missing_interpreters = False
QUICK = ("-q", "-n", "2", "-m", "quick", "tests")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The newest versions of everything."""
    session.install("-e", ".[test]", "-e", "plugins/example")
    session.run("pip", "check")
    session.run("pytest", *(session.posargs or QUICK))


@nox.session(python="3.11", venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """The lowest versions that `dependencies` and the extras allow."""
    session.install("--resolution", "lowest-direct", "-e", ".[test]", "-e", "plugins/example")
    session.run("uv", "pip", "check", external=True)
    session.run("pytest", *(session.posargs or QUICK))
