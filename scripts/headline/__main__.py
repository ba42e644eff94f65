"""`python -m scripts.headline`."""

import sys

from scripts.headline.command import main

if __name__ == "__main__":
    sys.exit(main())
