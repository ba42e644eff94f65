"""Builds the frozen sentinel kernels once per architecture, and writes down what was built with what.

`python -m scripts.sentinels`         build all of them anew into `leaderboard/frozen`
`python -m scripts.sentinels --check` build nothing into it: say whether today's compiler would give the same bytes

What is built is what is kept: a driver check compares sessions that ran the same cubin, whatever compiler came since.
"""
