"""`python -m voirdire` is `voirdire`."""

from voirdire.cli import main

if __name__ == "__main__":
    main()
