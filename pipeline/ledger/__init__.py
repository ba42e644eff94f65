"""The budget's books: what a search may spend, in eight currencies, entered twice and never lost."""

from pipeline.ledger.amounts import CURRENCIES, Amounts
from pipeline.ledger.book import Exhausted, Ledger

__all__ = ["CURRENCIES", "Amounts", "Exhausted", "Ledger"]
