"""What every setting of a kernel family takes on one task: an exploration of its knobs, not a judgement.

`python -m scripts.landscape --family gemm --task l1_bf16_gemm --workloads 0,1 --out FILE.jsonl`

Settings are compiled on all cores, timed one after the other in one process, and each output is compared with the
reference's once. The first line of FILE says under which conditions; every further line is one setting on one
workload. A file that exists goes on where it stopped.
"""
