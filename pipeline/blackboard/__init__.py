"""The blackboard: what happened, what was concluded and who is best, written by the pipeline alone."""

from pipeline.blackboard.board import Board, open_board
from pipeline.blackboard.recall import Recall
from pipeline.blackboard.retention import Retention

__all__ = ["Board", "Recall", "Retention", "open_board"]
