"""`python -m scripts.api_reference`."""

import sys

from scripts.api_reference.command import main

if __name__ == "__main__":
    sys.exit(main())
