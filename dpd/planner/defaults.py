"""Numbers that others decided: defaults of vLLM and of AWS's operator, and AWS's advice."""

PREFILL_MAX_NUM_SEQS = 16
DECODE_MAX_NUM_SEQS = 32
"""`--max-num-seqs` that the operator gives the two roles."""
MAX_NUM_BATCHED_TOKENS = 8192
"""`--max-num-batched-tokens` of vLLM on these GPUs."""
DPD_GPU_MEMORY_UTILIZATION = 0.75
"""The operator's, which leaves room for the PD buffer."""
GPU_MEMORY_UTILIZATION = 0.9
"""vLLM's, for workers without a PD buffer."""
THRESHOLD_TOKENS = 4096
"""`routingThreshold` of the operator."""
PD_BUFFER_BYTES = 8 * 2**30
"""`PD_BUFFER_SIZE` of the operator; larger than any prompt needs, so a default, not a bound."""
OUTSIDE_BYTES = 6 * 2**30
"""What CUDA, NCCL and NIXL take outside vLLM's share at most, according to field reports."""

LARGE_MODEL_PARAMETERS = 70_000_000_000
LONG_PROMPT_TOKENS = 4096
LONG_ANSWER_TOKENS = 256
HIGH_REQUESTS_PER_SECOND = 2
"""From these four on AWS's guide advises disaggregation, for dense models."""
