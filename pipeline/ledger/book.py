"""The ledger: reserve before work, settle after, void when the machine was at fault.

Double entry: every amount moves from one account to another, so all accounts together always hold what was
granted. Nothing here measures or decides; equal calls in equal order give equal books.
"""

from collections.abc import Mapping
from typing import Literal

from pipeline.ledger.amounts import CURRENCIES, NOTHING, Amounts
from tasks.value import Value

Account = Literal["grant", "open", "held", "spent"]


class Entry(Value):
    """One movement. `grant` is where budgets come from: the only account that goes below zero."""

    source: Account
    target: Account
    amounts: Amounts
    about: str


class Exhausted(Exception):
    """A reservation asks for more than is left; nothing was moved."""

    def __init__(self, currency: str) -> None:
        super().__init__(f"the budget of {currency.replace('_', ' ')} is spent")
        self.currency = currency


class Ledger:
    """Capped in any subset of the currencies; what has no cap is granted as it is asked for."""

    def __init__(self, caps: Mapping[str, int]) -> None:
        unknown = set(caps) - set(CURRENCIES)
        if unknown:
            raise ValueError(f"there is no currency {min(unknown)!r}; they are {', '.join(CURRENCIES)}")
        self.caps = dict(caps)
        self.entries: list[Entry] = []
        self._balances: dict[Account, dict[str, int]] = {
            account: dict.fromkeys(CURRENCIES, 0) for account in ("grant", "open", "held", "spent")
        }
        self._held: dict[str, Amounts] = {}
        self._move("grant", "open", Amounts.of(self.caps), "the budget")

    def reserve(self, about: str, wanted: Amounts) -> None:
        """Set `wanted` aside for `about`. Raises `Exhausted`, and `ValueError` for what is reserved already."""
        if about in self._held:
            raise ValueError(f"{about} is reserved already")
        for currency, amount in wanted.units().items():
            if currency in self.caps and amount > self._balances["open"][currency]:
                raise Exhausted(currency)
        self._grant_uncapped(wanted, about)
        self._move("open", "held", wanted, about)
        self._held[about] = wanted

    def settle(self, about: str, used: Amounts) -> None:
        """The work is done: what was used is spent, the rest of its reservation is open again.

        Work that took more than was set aside is paid from what is open; what not even that covers is granted
        as an overrun and stands in the books as such.
        """
        held = self._taken(about)
        self._move("held", "spent", held.least(used), about)
        self._move("held", "open", held.beyond(used), about)
        self._pay_from_open(used.beyond(held), about)

    def void(self, about: str) -> None:
        """The machine was at fault: all of it is open again."""
        self._move("held", "open", self._taken(about), about)

    def charge(self, about: str, used: Amounts) -> None:
        """What was spent before it could be foreseen, such as tokens."""
        self._pay_from_open(used, about)

    def balance(self, account: Account) -> dict[str, int]:
        return dict(self._balances[account])

    @property
    def spent(self) -> Amounts:
        return Amounts.of(self._balances["spent"])

    @property
    def reserved(self) -> tuple[str, ...]:
        """What is under way."""
        return tuple(self._held)

    def exhausted(self) -> str | None:
        """The first capped currency of which nothing is left, not even set aside."""
        for currency in self.caps:
            if self._balances["open"][currency] + self._balances["held"][currency] <= 0:
                return currency
        return None

    def left(self, currency: str) -> int | None:
        """What may still be reserved; None without a cap."""
        return self._balances["open"][currency] if currency in self.caps else None

    def _taken(self, about: str) -> Amounts:
        if about not in self._held:
            raise ValueError(f"nothing is reserved for {about}")
        return self._held.pop(about)

    def _pay_from_open(self, amounts: Amounts, about: str) -> None:
        self._grant_uncapped(amounts, about)
        overrun = amounts.beyond(Amounts.of(self._balances["open"]))
        self._move("grant", "open", overrun, f"{about}: overrun")
        self._move("open", "spent", amounts, about)

    def _grant_uncapped(self, amounts: Amounts, about: str) -> None:
        needed = {name: units for name, units in amounts.units().items() if name not in self.caps}
        missing = Amounts.of(needed).beyond(Amounts.of(self._balances["open"]))
        self._move("grant", "open", missing, about)

    def _move(self, source: Account, target: Account, amounts: Amounts, about: str) -> None:
        if amounts == NOTHING:
            return
        self.entries.append(Entry(source=source, target=target, amounts=amounts, about=about))
        for currency, units in amounts.units().items():
            self._balances[source][currency] -= units
            self._balances[target][currency] += units
