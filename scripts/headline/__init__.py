"""The table of bars: for each row a peer and a candidate of ours, measured against each other by the guard.

`python -m scripts.headline --rows gemm_4096,gemm_2048 --max-seconds 600 --out docs/results/headline-h200.json`

Both are judged in fresh processes in turn, every call is checked, and the ratio stands with its interval. A row that
is done is not measured again; the same command goes on with the others.
"""
