"""Knobs for a shape that nobody timed, predicted from the times of others.

Needs scikit-learn (`pip install kernelarc[warm]`) and records of the family; without either nothing is predicted and
a search begins as it would have.
"""

from agents.warm_start.record import Record, read_records
from agents.warm_start.starts import Starts, predicted_starts

__all__ = ["Record", "Starts", "predicted_starts", "read_records"]
