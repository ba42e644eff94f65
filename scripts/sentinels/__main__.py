"""`python -m scripts.sentinels`."""

import sys

from scripts.sentinels.command import main

if __name__ == "__main__":
    sys.exit(main())
