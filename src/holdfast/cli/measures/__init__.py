"""What `holdfast bench` measures, and what it measures with.

`rounds`, `ruler` and `trials` need nothing but the standard library: the benchmarks in `bench/` load them in the
environments of other queues, so that all are measured by the same code.
"""
