"""`python -m scripts.leaderboard_bars`."""

import sys

from scripts.leaderboard_bars.command import main

if __name__ == "__main__":
    sys.exit(main())
