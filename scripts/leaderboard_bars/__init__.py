"""The bars of snapshots on a GPU, taken step by step: each step's result is on disk before the next begins.

`python -m scripts.leaderboard_bars --out docs/results/leaderboard-h200.json --snapshots leaderboard/snapshots`

sentinels   snapshots of the frozen sentinels
same        `regress` against them, with nothing changed: nothing may be found
injected    the same with one sentinel lengthened: it alone has to be found
champions   snapshots of the first candidates that an agent proposes for some shipped tasks, all workloads
repeats     `reproduce` of these, on some workloads, several times
delayed     the same with one kernel lengthened by a hidden wait: it alone has to be found

What the file holds is not done again. Only on the card of the snapshots are times compared as they are.
"""
