"""`python -m voirdire` is `voirdire`."""

from voirdire.cli import program

if __name__ == "__main__":
    program()
