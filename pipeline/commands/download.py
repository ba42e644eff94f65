"""`kernelarc data`: the official data set, fetched or checked."""

import click


@click.group()
def data() -> None:
    """Fetch the official data set (it may not be shipped), or check a copy of it."""
