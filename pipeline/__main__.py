"""`python3 -m pipeline ...` from the root, where nothing is installed."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
