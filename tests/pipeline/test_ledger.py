"""The books: nothing negative, nothing lost, whatever the order in which work is begun and ended."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ledger import CURRENCIES, Amounts, Exhausted, Ledger
from pipeline.ledger.breaker import MOST_TRIPS, TRIPS_AT, Breaker

units = st.integers(0, 50)
amounts = st.builds(Amounts, **dict.fromkeys(CURRENCIES, units))
caps = st.dictionaries(st.sampled_from(CURRENCIES), st.integers(0, 120))
steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "settle", "void", "charge"]), st.integers(0, 7), amounts),
    max_size=60,
)


def play(ledger: Ledger, moves) -> tuple[Amounts, list[str]]:
    """What was truly used, and which reservations were refused."""
    used, refused = Amounts(), []
    for what, which, amount in moves:
        about = f"work {which}"
        if what == "charge":
            ledger.charge(about, amount)
            used = used + amount
        elif what == "reserve" and about not in ledger.reserved:
            try:
                ledger.reserve(about, amount)
            except Exhausted as error:
                refused.append(error.currency)
        elif what == "settle" and about in ledger.reserved:
            ledger.settle(about, amount)
            used = used + amount
        elif what == "void" and about in ledger.reserved:
            ledger.void(about)
        check(ledger)
    return used, refused


def check(ledger: Ledger) -> None:
    for currency in CURRENCIES:
        balances = {
            account: ledger.balance(account)[currency] for account in ("grant", "open", "held", "spent")
        }
        assert sum(balances.values()) == 0
        assert min(balances["open"], balances["held"], balances["spent"]) >= 0


@settings(max_examples=150, deadline=None)
@given(caps, steps)
def test_no_order_of_events_makes_a_balance_negative_or_loses_a_unit(capped, moves):
    ledger = Ledger(capped)
    used, refused = play(ledger, moves)
    assert ledger.spent == used
    assert set(refused) <= set(capped)
    for about in ledger.reserved:
        ledger.void(about)
    assert not any(ledger.balance("held").values())
    for currency, cap in capped.items():
        # what is open is what was granted and not used; an overrun leaves nothing open
        assert ledger.balance("open")[currency] >= cap - getattr(used, currency)


@settings(max_examples=50, deadline=None)
@given(caps, steps)
def test_balances_follow_from_the_entries_alone(capped, moves):
    ledger = Ledger(capped)
    play(ledger, moves)
    for account in ("grant", "open", "held", "spent"):
        for currency in CURRENCIES:
            into = sum(getattr(e.amounts, currency) for e in ledger.entries if e.target == account)
            out = sum(getattr(e.amounts, currency) for e in ledger.entries if e.source == account)
            assert ledger.balance(account)[currency] == into - out


@settings(max_examples=50, deadline=None)
@given(st.lists(amounts, max_size=12), st.integers(0, 100))
def test_reservations_alone_never_pass_a_cap(wanted, cap):
    ledger = Ledger({"candidates": cap})
    for number, amount in enumerate(wanted):
        try:
            ledger.reserve(str(number), amount)
        except Exhausted:
            continue
        ledger.settle(str(number), amount)
    assert ledger.spent.candidates <= cap


def test_work_that_takes_longer_than_set_aside_is_paid_and_then_nothing_is_left():
    ledger = Ledger({"gpu_us": 100})
    ledger.reserve("a", Amounts(gpu_us=60))
    ledger.settle("a", Amounts(gpu_us=130))
    assert ledger.spent.gpu_us == 130
    assert ledger.exhausted() == "gpu_us"
    assert [entry.about for entry in ledger.entries if entry.source == "grant"] == [
        "the budget",
        "a: overrun",
    ]


def test_a_machine_at_fault_costs_nothing():
    ledger = Ledger({"candidates": 1})
    ledger.reserve("a", Amounts(candidates=1, attempts=1))
    with pytest.raises(Exhausted, match="the budget of candidates is spent"):
        ledger.reserve("b", Amounts(candidates=1))
    ledger.void("a")
    ledger.reserve("b", Amounts(candidates=1))
    assert ledger.spent == Amounts()


def test_what_is_reserved_twice_or_settled_without_is_a_mistake_of_the_caller():
    ledger = Ledger({})
    ledger.reserve("a", Amounts(attempts=1))
    with pytest.raises(ValueError, match="already"):
        ledger.reserve("a", Amounts(attempts=1))
    with pytest.raises(ValueError, match="nothing is reserved"):
        ledger.settle("b", Amounts())
    with pytest.raises(ValueError, match="no currency"):
        Ledger({"patience": 3})


def test_the_breaker_trips_at_three_in_a_row_rests_longer_each_time_and_gives_up():
    breaker, tripped = Breaker(), []
    candidates = asked = 0
    while not breaker.is_final:
        if breaker.is_open(candidates):
            candidates += 1
            continue
        asked += 1
        if breaker.refused(candidates):
            tripped.append((asked, candidates))
    assert tripped == [(TRIPS_AT, 0), (TRIPS_AT + 1, 4), (TRIPS_AT + 2, 12)]
    assert breaker.trips == MOST_TRIPS and breaker.is_open(10**9)


def test_something_new_closes_the_breaker_for_good():
    breaker = Breaker()
    breaker.refused(0)
    breaker.refused(0)
    breaker.new()
    assert not breaker.refused(0) and not breaker.is_open(0)
