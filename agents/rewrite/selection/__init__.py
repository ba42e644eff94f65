"""Small selections, a row of values each, in the registers of one kernel: routing, top-k, and what stands around it."""
