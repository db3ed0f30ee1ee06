"""One reader a file format; all give a `RawTable`."""

from voirdire.tables._files._raw import RawTable
from voirdire.tables._files._read import read_raw

__all__ = ["RawTable", "read_raw"]
