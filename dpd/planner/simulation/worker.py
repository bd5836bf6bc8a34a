"""One vLLM worker: continuous batching with chunked prefill, one step after the other.

As in vLLM's V1 scheduler, a step first takes one token of every running sequence, then fills its
token budget with prompts in order of arrival; the last one may be cut and go on in the next step.
KV cache for prompt and answer is reserved at admission, so nothing is ever preempted.
"""

from math import inf

from dpd.planner import step_time
from dpd.planner.simulation.compilation import compiled
from dpd.planner.simulation.measure import count_first_token, count_tokens, finish
from dpd.planner.simulation.queues import pop
from dpd.planner.simulation.state import NONE, State
from dpd.planner.simulation.transfer import release_buffer, send

step_seconds = compiled(step_time.step_seconds)
attention_pairs = compiled(step_time.attention_pairs)


@compiled
def begin_step(state: State, worker: int) -> None:
    """Compose the next step of an idle worker and set when it ends; stay idle without work."""
    workers, settings = state.workers, state.settings[0]
    is_prefill = worker < settings.prefill_workers
    retrieved = 0
    if not is_prefill:
        retrieved = _admit_transferred(state, worker)
    prompt_tokens, pairs, prompts = _take_prompts(state, worker, is_prefill)
    running = workers[worker].running
    state.tally[0].prompt_tokens += prompt_tokens
    if prompt_tokens == 0 and running == 0:
        return
    costs = state.costs[0 if is_prefill else 1]
    seconds = step_seconds(costs, prompt_tokens, pairs, running, workers[worker].context)
    seconds += retrieved * settings.retrieve_per_token
    if is_prefill:
        seconds += prompts * settings.store_per_prompt
    workers[worker].step_seconds = seconds
    workers[worker].step_ends = state.tally[0].now + seconds


@compiled
def end_step(state: State, worker: int) -> None:
    """Give every sequence of the step its token and leave the worker idle."""
    workers, requests, tally = state.workers, state.requests, state.tally[0]
    now = tally.now
    seconds = workers[worker].step_seconds
    running = workers[worker].running
    workers[worker].busy_seconds += seconds
    workers[worker].batch_seconds += seconds * running
    workers[worker].kv_seconds += seconds * workers[worker].kv_used
    workers[worker].steps += 1
    workers[worker].context += running
    if running > 0:
        tally.decode_tokens += running
        count_tokens(state, running, running - workers[worker].started, seconds)
    slot = workers[worker].started_head
    while slot != NONE:
        requests[slot].first_token = now
        slot = requests[slot].step_link
    workers[worker].started_head = NONE
    workers[worker].started = 0
    _finish_sequences(state, worker)
    _finish_prompts(state, worker)
    workers[worker].step_ends = inf


@compiled
def _admit_transferred(state: State, worker: int) -> int:
    """Let requests whose KV cache has arrived into the batch; return their prompt tokens."""
    workers, requests, settings = state.workers, state.requests, state.settings[0]
    retrieved = 0
    while (
        workers[worker].ready_head != NONE and workers[worker].running < settings.decode_sequences
    ):
        slot = workers[worker].ready_head
        input_tokens, output_tokens = requests[slot].input_tokens, requests[slot].output_tokens
        if workers[worker].kv_used + input_tokens + output_tokens > settings.decode_kv_tokens:
            break
        pop(workers.ready_head, requests.link, worker)
        retrieved += input_tokens
        workers[worker].kv_used += input_tokens + output_tokens
        _run(state, worker, slot, output_tokens)
        workers[worker].context += input_tokens
        requests[slot].step_link = workers[worker].started_head
        workers[worker].started_head = slot
        workers[worker].started += 1
        release_buffer(state, worker - settings.prefill_workers, input_tokens)
    return retrieved


@compiled
def _take_prompts(state: State, worker: int, is_prefill: bool) -> tuple[int, float, int]:
    """Fill the token budget; return tokens and attention pairs taken and prompts completed."""
    workers, requests, settings = state.workers, state.requests, state.settings[0]
    sequences = settings.prefill_sequences if is_prefill else settings.decode_sequences
    budget = settings.prefill_batched_tokens if is_prefill else settings.decode_batched_tokens
    capacity = settings.prefill_kv_tokens if is_prefill else settings.decode_kv_tokens
    is_chunked = settings.prefill_chunks if is_prefill else settings.decode_chunks
    budget -= workers[worker].running
    taken, pairs, prompts = 0, 0.0, 0
    while budget > 0:
        slot = workers[worker].partial
        if slot == NONE:
            slot = workers[worker].waiting_head
            if slot == NONE or workers[worker].running + prompts >= sequences:
                break
            if not is_chunked and taken > 0 and requests[slot].left_tokens > budget:
                break
            needed = requests[slot].input_tokens
            if not is_prefill:
                needed += requests[slot].output_tokens
            if workers[worker].kv_used + needed > capacity:
                break
            pop(workers.waiting_head, requests.link, worker)
            workers[worker].kv_used += needed
        left = requests[slot].left_tokens
        chunk = min(budget, left) if is_chunked else left
        pairs += attention_pairs(chunk, requests[slot].input_tokens - left)
        taken += chunk
        budget -= chunk
        requests[slot].left_tokens = left - chunk
        if left > chunk:
            workers[worker].partial = slot
        else:
            workers[worker].partial = NONE
            prompts += 1
            requests[slot].step_link = workers[worker].prompts_head
            workers[worker].prompts_head = slot
    return taken, pairs, prompts


@compiled
def _run(state: State, worker: int, slot: int, steps: int) -> None:
    """Let a sequence decode for so many steps."""
    workers, requests = state.workers, state.requests
    workers[worker].running += 1
    mask = state.tally[0].ring_mask
    place = worker * (mask + 1) + ((workers[worker].steps + steps) & mask)
    requests[slot].link = state.finishing[place]
    state.finishing[place] = slot


@compiled
def _finish_sequences(state: State, worker: int) -> None:
    workers, requests = state.workers, state.requests
    mask = state.tally[0].ring_mask
    place = worker * (mask + 1) + (workers[worker].steps & mask)
    slot = state.finishing[place]
    state.finishing[place] = NONE
    while slot != NONE:
        after = requests[slot].link
        tokens = requests[slot].input_tokens + requests[slot].output_tokens
        workers[worker].running -= 1
        workers[worker].context -= tokens
        workers[worker].kv_used -= tokens
        workers[worker].present -= 1
        finish(state, slot)
        slot = after


@compiled
def _finish_prompts(state: State, worker: int) -> None:
    """Send finished prompts on, or give them their first token and let them decode here."""
    workers, requests = state.workers, state.requests
    slot = workers[worker].prompts_head
    workers[worker].prompts_head = NONE
    while slot != NONE:
        after = requests[slot].step_link
        input_tokens, output_tokens = requests[slot].input_tokens, requests[slot].output_tokens
        if worker < state.settings[0].prefill_workers:
            workers[worker].kv_used -= input_tokens
            workers[worker].present -= 1
            send(state, slot)
        else:
            requests[slot].first_token = state.tally[0].now
            count_first_token(state)
            if output_tokens > 1:
                _run(state, worker, slot, output_tokens - 1)
                workers[worker].context += input_tokens + 1
            else:
                workers[worker].kv_used -= input_tokens + output_tokens
                workers[worker].present -= 1
                finish(state, slot)
        slot = after
