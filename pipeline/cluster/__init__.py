"""Judging on other machines, as tasks of Dask: the same verdicts, journal and ledger as here."""

from pipeline.cluster.lane import Lane, open_lane

__all__ = ["Lane", "open_lane"]
