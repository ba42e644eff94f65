"""`python -m scripts.champions`."""

import sys

from scripts.champions.command import main

if __name__ == "__main__":
    sys.exit(main())
