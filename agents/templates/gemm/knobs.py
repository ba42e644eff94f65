"""What can be turned in a matrix product, and what makes no sense."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.gemm.form import Gemm
from agents.templates.gemm.plan import Plan, class_of, experience, knobs_of, plan_of_knobs, short_side

_BYTES = 2
"""Of an operand's element."""
_MOST_SHARED = 227 * 1024
_OTHER_SHARED = 2048
"""Barriers, and what alignment costs."""
_SUMS_A_THREAD = 128
"""Registers that may hold sums; with operands and addresses that is what 255 allow without spilling."""


def gemm_knobs(gemm: Gemm) -> KnobSpace:
    """Knobs: for which `rows` a setting is (other shapes of the task keep the plan of experience), blocks of
    rows, columns and length, warps, pipeline stages, `parts` of the length summed apart, a persistent grid,
    operands `swapped`, and `pieces` that a block is stored in."""
    classes = tuple(dict.fromkeys(class_of(shape) for shape in sorted(gemm.shapes, reverse=True)))
    most = {rows: max(s[0] for s in gemm.shapes if class_of(s) == rows) for rows in classes}

    def allows(knobs: Knobs) -> bool:
        rows = str(knobs["rows"])
        if not _is_of_class(knobs, rows):
            return False
        plan = plan_of_knobs(knobs)
        return _suits(plan, rows, most[rows]) and fits(plan, gemm)

    return KnobSpace(
        choices={
            "rows": classes,
            "block_m": (16, 32, 64, 128, 256),
            "block_n": (16, 32, 64, 128, 256),
            "block_k": (64, 128, 256, 512),
            "warps": (4, 8),
            "stages": (1, 2, 3, 4, 5, 6),
            "parts": (1, 2, 4, 8),
            "persistent": (False, True),
            "swapped": (False, True),
            "pieces": (1, 2),
            "streamed": (False, True),
        },
        allows=allows,
        start=tuple(knobs for knobs in _start(gemm, classes) if allows(knobs)),
    )


def fits(plan: Plan, gemm: Gemm) -> bool:
    """Sums in registers, stages in shared memory, and beside them what comes for a block and what leaves it."""
    products, block = len(gemm.products), plan.block_m * plan.block_n
    stage = (plan.block_m + products * plan.block_n) * plan.block_k * _BYTES
    beside = block // plan.pieces * (4 if plan.parts > 1 else _BYTES)
    staged = plan.stages * stage + _OTHER_SHARED
    if plan.persistent:  # the next block is fetched while this one is finished
        staged += max(beside, len(gemm.tiles) * (block * _BYTES + (beside // 2 if plan.pieces == 1 else 0)))
    return block * products // (32 * plan.warps) <= _SUMS_A_THREAD and max(staged, beside) <= _MOST_SHARED


def _is_of_class(knobs: Knobs, rows: str) -> bool:
    """Few rows: the weight is the first operand, and a block is small. Otherwise never."""
    if bool(knobs["streamed"]) != (knobs["stages"] == 1):
        return False
    if rows == "few":
        return bool(knobs["swapped"]) and not knobs["persistent"] and knobs["pieces"] == 1
    return not (knobs["swapped"] or knobs["streamed"]) and knobs["block_m"] not in (16, 32)


def _suits(plan: Plan, rows: str, most: int) -> bool:
    """Nothing that only wastes: blocks much taller than the rows, parts where there are blocks enough."""
    if plan.parts > 1 and (plan.persistent or plan.pieces > 1 or rows == "many"):
        return False
    block = plan.block_m * plan.block_n
    if rows == "few":
        return (
            plan.block_m == short_side(most)
            and plan.block_n <= 128
            and plan.block_n * plan.block_k >= 64 * 64
        )
    return (
        plan.block_k <= 128
        and plan.block_n >= 64
        and plan.block_m <= max(64, 2 * most)
        and block >= 32 * 32 * plan.warps
        and (plan.pieces == 1 or (plan.block_n >= 128 and plan.block_m >= 16 * plan.warps))
        and (rows == "some" or block >= 128 * 128)
    )


def _start(gemm: Gemm, classes: tuple[str, ...]) -> list[Knobs]:
    """For each class what experience says, then its next best ideas; the classes in turns."""
    ideas = [_ideas(gemm, rows) for rows in classes]
    turns = [each[place] for place in range(max(map(len, ideas))) for each in ideas if place < len(each)]
    return [dict(knobs) for knobs in dict.fromkeys(tuple(sorted(t.items())) for t in turns)]


def _ideas(gemm: Gemm, rows: str) -> list[dict[str, int | str | bool]]:
    shapes = [shape for shape in gemm.shapes if class_of(shape) == rows]
    block_m = short_side(max(shapes)[0])
    more = {
        "few": [
            Plan(block_m, 32, 128, 4, 6, 1, False, True, 1),
            Plan(block_m, 32, 256, 4, 3, 1, False, True, 1),
            Plan(block_m, 64, 128, 4, 3, 1, False, True, 1),
            Plan(block_m, 128, 64, 4, 4, 4, False, True, 1),
            Plan(block_m, 32, 128, 4, 1, 8, False, True, 1, True),
        ],
        "some": [
            Plan(64, 64, 128, 4, 4, 1, False, False, 1),
            Plan(128, 64, 64, 4, 5, 2, False, False, 1),
            Plan(64, 128, 64, 4, 5, 2, False, False, 1),
        ],
        "many": [
            Plan(128, 256, 64, 8, 3, 1, True, False, 2),
            Plan(256, 128, 64, 8, 4, 1, True, False, 2),
            Plan(128, 256, 64, 8, 4, 1, False, False, 1),
            Plan(128, 128, 64, 8, 4, 1, True, False, 2),
            Plan(128, 128, 64, 4, 4, 1, False, False, 1),
        ],
    }[rows]
    return [knobs_of(plan, rows) for plan in (experience(max(shapes), gemm), *more)]
