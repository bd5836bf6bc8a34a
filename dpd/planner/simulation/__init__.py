"""Discrete-event simulation of vLLM workers; import it only to run one (numpy, numba)."""
