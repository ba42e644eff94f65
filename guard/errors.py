"""The one exception for our own or the machine's fault."""


class GuardBroken(Exception):
    """No judgement was possible, and nobody's candidate is to blame; the command line exits with 3."""
