"""The catalogue of the museum as a table: `python -m tests.museum [WORD]`, where WORD is part of a name or kind."""

import sys

from tests.museum.cases import CASES


def main(word: str = "") -> None:
    shown = [case for case in CASES.values() if word in case.name or word in case.kind]
    for case in sorted(shown, key=lambda case: (case.kind, case.name)):
        print(f"{case.kind:24} {case.device} {case.expected:8} {case.name:32} {', '.join(case.reasons)}")
    cheats = sum(case.is_cheat for case in shown)
    print(f"{cheats} cheats and {len(shown) - cheats} honest cases")


if __name__ == "__main__":
    main(*sys.argv[1:2])
