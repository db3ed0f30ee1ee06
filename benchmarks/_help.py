"""What a benchmark says of itself when it is asked: `--help`."""

import sys


def help_asked(text: str | None) -> None:
    """Print the script's docstring and end, where `--help` or `-h` was typed."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(text)
        sys.exit()
