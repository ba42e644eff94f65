"""`python -m scripts.landscape`."""

import sys

from scripts.landscape.command import main

if __name__ == "__main__":
    sys.exit(main())
