"""Search over plans: bounds prune, the simulation decides, replicas and threshold together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf

from dpd.errors import UserError
from dpd.planner.defaults import MAX_NUM_BATCHED_TOKENS, PD_BUFFER_BYTES
from dpd.planner.estimate import Lengths, is_hopeless, sample_lengths
from dpd.planner.evaluate import Outcome, evaluate
from dpd.planner.memory import GIB
from dpd.planner.plan import Plan, problem
from dpd.planner.question import Question
from dpd.planner.ranking import better
from dpd.planner.tuning import CLEARANCE, DECODE_SEQUENCES, tuned

_THRESHOLDS = (0, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768)
_SMALL_BATCH = 2048
_COLOCATED_SEQUENCES = 256
_ROLES = 2
_UNLIMITED_LOAD_NODES = 5
"""Nodes to try where nothing limits them: a closed loop without targets."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Findings:
    """The best plans of both kinds."""

    lengths: Lengths
    disaggregated: Outcome | None
    colocated: Outcome | None
    same_gpus: Outcome | None
    """Colocated, with as many GPUs as the disaggregated plan."""
    half_gpus: Outcome | None
    """Colocated, with half as many, as AWS's blog compares."""
    sweep: tuple[Outcome, ...]
    """Disaggregated plans that were simulated, with their thresholds and replicas."""
    pruned: int
    """Plans that a bound ruled out."""


def search(question: Question, *, progress: Progress = lambda _: None) -> Findings:
    """Return the best plans.

    Raises:
        UserError: the model does not fit in any way that was asked for; the line has the sum.
    """
    lengths = sample_lengths(question)
    searching = _Search(question, lengths, progress)
    disaggregated = searching.best_disaggregated()
    colocated = searching.best_colocated()
    if disaggregated is None and colocated is None:
        reason = why_not(question, is_disaggregated=False)
        raise UserError(f"{question.model.title} does not fit: {reason}")
    same = half = None
    if disaggregated is not None:
        same = searching.colocated_with(disaggregated.nodes)
        half = searching.colocated_with(disaggregated.nodes / 2)
    return Findings(
        lengths, disaggregated, colocated, same, half, tuple(searching.sweep), searching.pruned
    )


def why_not(question: Question, *, is_disaggregated: bool) -> str:
    """Return why no plan of a kind can run: the sum of the one that leaves most memory."""
    heads = question.model.attention_heads
    sizes = [size for size in question.tensor_parallel if heads % size == 0]
    if not sizes:
        return f"no tensor-parallel size divides its {heads} attention heads"
    if is_disaggregated and question.max_nodes < _ROLES:
        return f"prefill and decode take a node each; raise --max-nodes {question.max_nodes}"
    plan = Plan(
        tensor_parallel=max(sizes),
        prefill_replicas=int(is_disaggregated),
        pd_buffer_bytes=question.minimum_pd_buffer(max(sizes)) if is_disaggregated else 0,
    )
    return problem(_in_small_batches(plan), question) or f"not within {question.max_nodes} nodes"


def _in_small_batches(plan: Plan) -> Plan:
    return replace(
        plan,
        decode_max_num_batched_tokens=_SMALL_BATCH,
        prefill_max_num_batched_tokens=_SMALL_BATCH,
    )


class _Search:
    def __init__(self, question: Question, lengths: Lengths, progress: Progress) -> None:
        self._question = question
        self._lengths = lengths
        self._progress = progress
        self._known: dict[Plan, Outcome] = {}
        self.sweep: list[Outcome] = []
        self.pruned = 0

    def best_disaggregated(self) -> Outcome | None:
        """Go up in nodes until a plan meets everything; then tune it."""
        best: Outcome | None = None
        for nodes in range(_ROLES, self._last_node_count() + 1):
            for plan in self._disaggregated(nodes):
                outcome = self._try(plan)
                if outcome is not None:
                    self.sweep.append(outcome)
                    best = better(best, outcome, self._question)
            if best is not None and best.is_good and not self._question.is_open_ended:
                break
        return tuned(best, self._question, self._lengths, self._try) if best else None

    def best_colocated(self) -> Outcome | None:
        """Go up in nodes until a plan meets everything."""
        best: Outcome | None = None
        for nodes in range(1, self._last_node_count() + 1):
            best = better(best, self.colocated_with(nodes), self._question)
            if best is not None and best.is_good and not self._question.is_open_ended:
                break
        return best

    def colocated_with(self, nodes: float) -> Outcome | None:
        """Return the best colocated plan on so many nodes; half a node is half its GPUs."""
        best: Outcome | None = None
        for size in self._sizes():
            replicas = int(nodes * self._question.instance.gpu_count) // size
            for batched in (_SMALL_BATCH, MAX_NUM_BATCHED_TOKENS):
                if replicas:
                    plan = Plan(
                        tensor_parallel=size,
                        decode_replicas=replicas,
                        decode_max_num_seqs=_COLOCATED_SEQUENCES,
                        decode_max_num_batched_tokens=batched,
                        prefill_max_num_batched_tokens=batched,
                    )
                    best = better(best, self._try(plan), self._question)
        return best

    def _disaggregated(self, nodes: int) -> Iterator[Plan]:
        """Yield plans on so many nodes: every split of them, with every threshold."""
        for size in self._sizes():
            per_node = self._question.instance.gpu_count // size
            for decode in range(1, self._question.max_decode_replicas + 1):
                decode_nodes = -(-decode // per_node)
                prefill = (nodes - decode_nodes) * per_node
                if prefill < 1 or (decode > 1 and decode % per_node):
                    continue
                for threshold in self._thresholds():
                    plan = Plan(
                        tensor_parallel=size,
                        decode_replicas=decode,
                        decode_max_num_seqs=self._sequences(decode),
                        prefill_replicas=prefill,
                        routing_threshold=threshold,
                        pd_buffer_bytes=self._buffer(size),
                    )
                    # Activations of a smaller batch leave room where that of the default does not.
                    yield _in_small_batches(plan) if problem(plan, self._question) else plan

    def _thresholds(self) -> list[int]:
        """Return thresholds that split the traffic differently, away from the prompts' lengths.

        The router estimates tokens, so a threshold close to a common length would send it either
        way; of the thresholds with the same split the largest 10 % below the next prompt is kept.
        """
        if not self._question.has_threshold:
            return [0]
        chosen: dict[int, int] = {}
        inputs = self._lengths.inputs
        for threshold in _THRESHOLDS:
            far = inputs[inputs >= threshold]
            is_clear = len(far) and threshold <= CLEARANCE * far.min()
            is_possible = len(far) and threshold < self._question.max_model_len
            if is_possible and (is_clear or len(far) not in chosen):
                chosen[len(far)] = threshold
        return list(chosen.values())

    def _sequences(self, decode: int) -> int:
        """Return the smallest batch limit that a closed loop does not exceed, else the largest."""
        users = self._question.traffic.users
        enough = [size for size in DECODE_SEQUENCES if users and size * decode >= users]
        return enough[0] if enough else DECODE_SEQUENCES[-1]

    def _buffer(self, size: int) -> int:
        """Return the default PD buffer, or what the longest prompt or the memory demands."""
        minimum = self._question.minimum_pd_buffer(size)
        if not minimum:
            return 0
        memory = self._question.memory(size, is_disaggregated=True, pd_buffer_bytes=minimum)
        spare = memory.outside_spare_bytes + minimum
        wanted = max(PD_BUFFER_BYTES, -(-minimum // GIB) * GIB)
        return wanted if wanted <= spare else max(minimum, spare // GIB * GIB)

    def _try(self, plan: Plan) -> Outcome | None:
        """Simulate a plan once; nothing where it cannot run or a bound rules it out."""
        if plan in self._known:
            return self._known[plan]
        if problem(plan, self._question):
            return None
        if plan.is_disaggregated and is_hopeless(self._question, plan, self._lengths):
            self.pruned += 1
            if self._nothing_found_yet(plan):
                return None
        self._progress(plan.describe())
        self._known[plan] = evaluate(plan, self._question)
        return self._known[plan]

    def _nothing_found_yet(self, plan: Plan) -> bool:
        """Keep hopeless plans out, but on the last node count, whose best names the misses."""
        return plan.nodes(self._question.instance.gpu_count) < self._last_node_count()

    def _sizes(self) -> list[int]:
        heads = self._question.model.attention_heads
        return [size for size in self._question.tensor_parallel if heads % size == 0]

    def _last_node_count(self) -> int:
        limit = _UNLIMITED_LOAD_NODES if self._question.is_open_ended else inf
        return int(min(self._question.max_nodes, limit))
