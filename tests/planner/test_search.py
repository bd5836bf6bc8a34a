"""The search, the verdict and what they refuse."""

from dataclasses import replace

import pytest

from dpd.catalog.instance_types import instance_types
from dpd.catalog.models import model_architectures
from dpd.errors import UserError
from dpd.planner.estimate import is_hopeless, prefill_worker_saturation, sample_lengths
from dpd.planner.evaluate import evaluate
from dpd.planner.from_endpoint import self_managed
from dpd.planner.memory import GIB
from dpd.planner.plan import Plan, problem
from dpd.planner.question import Question
from dpd.planner.search import search
from dpd.planner.traffic import Targets, Traffic, TrafficProfile
from dpd.planner.verdict import answer, headroom

SPLIT = Plan(tensor_parallel=8, prefill_replicas=1, routing_threshold=3072, pd_buffer_bytes=8 * GIB)


def with_targets(question: Question, **targets: str) -> Question:
    return replace(question, targets=Targets.model_validate(targets))


def test_the_best_plan_meets_the_targets_at_the_least_cost(question: Question) -> None:
    """Nothing on fewer nodes does; the same nodes with one more prefill worker cost more."""
    found = search(question)
    assert found.disaggregated is not None
    assert found.disaggregated.is_good
    assert found.disaggregated.plan.prefill_replicas == 2
    assert all(not o.is_good for o in found.sweep if o.nodes < found.disaggregated.nodes)
    assert found.same_gpus is not None
    assert found.half_gpus is not None
    assert found.same_gpus.gpus == found.disaggregated.gpus
    assert found.half_gpus.gpus <= found.disaggregated.gpus / 2


def test_the_same_question_has_the_same_answer(question: Question) -> None:
    """Every outcome is equal in every number."""
    one, other = search(question), search(question)
    assert one.sweep == other.sweep
    assert one.disaggregated == other.disaggregated
    assert one.colocated == other.colocated


def test_replicas_and_threshold_are_solved_together(question: Question) -> None:
    """With one prefill worker only a high threshold keeps up, with two a lower one is better."""
    kind = {"input": {"median": 2700, "sigma": 0.8}, "output": {"median": 180, "sigma": 0.6}}
    mixed = TrafficProfile.model_validate({"rate": 5, "classes": [kind]})
    question = replace(question, traffic=Traffic(mixed), requests=3000)
    by_plan = {
        (workers, threshold): evaluate(
            replace(SPLIT, prefill_replicas=workers, routing_threshold=threshold,
                    decode_max_num_seqs=128),
            question,
        ).result
        for workers in (1, 2)
        for threshold in (1024, 4096)
    }  # fmt: skip
    assert by_plan[2, 1024].itl.p99 < 0.7 * by_plan[2, 4096].itl.p99
    assert by_plan[1, 1024].ttft.p50 > 3 * by_plan[2, 1024].ttft.p50
    assert by_plan[1, 4096].ttft.p50 < by_plan[1, 1024].ttft.p50


def test_one_prefill_worker_saturates_where_the_closed_form_says(question: Question) -> None:
    """Beyond 1 / prefill time the simulation falls behind, and the bound prunes it."""
    lengths = sample_lengths(question)
    limit = prefill_worker_saturation(question, SPLIT, lengths)
    assert 4 < limit < 6

    def at(rate: float) -> Question:
        profile = question.traffic.profile.model_copy(update={"rate": rate})
        return replace(question, traffic=Traffic(profile), requests=4000)

    below, above = at(0.8 * limit), at(1.3 * limit)
    assert not evaluate(SPLIT, below).result.is_overloaded
    assert evaluate(SPLIT, above).result.is_overloaded
    assert not is_hopeless(below, SPLIT, sample_lengths(below))
    assert is_hopeless(above, SPLIT, sample_lengths(above))


def test_a_pruned_plan_would_not_have_been_good(question: Question) -> None:
    """The bound never rules out a plan that the simulation accepts."""
    for rate in (2, 4, 5, 6, 8, 12):
        profile = question.traffic.profile.model_copy(update={"rate": float(rate)})
        asked = replace(question, traffic=Traffic(profile))
        for workers in (1, 2):
            plan = replace(SPLIT, prefill_replicas=workers)
            if is_hopeless(asked, plan, sample_lengths(asked)):
                assert not evaluate(plan, asked).is_good


def test_headroom_is_where_the_targets_are_lost(question: Question) -> None:
    """Just below it the plan is good, well above it not."""
    outcome = evaluate(replace(SPLIT, prefill_replicas=2), question)
    load = headroom(question, outcome)
    assert load > 1
    above = question.traffic.scaled(load + 0.1)
    assert not evaluate(outcome.plan, question, traffic=above).is_good


def test_short_prompts_and_answers_are_better_colocated(question: Question) -> None:
    """A small model with short prompts: the verdict says so, and which conditions fail."""
    kind = {"input": 300, "output": 100}
    traffic = Traffic(TrafficProfile.model_validate({"rate": 1, "classes": [kind]}))
    result = answer(replace(question, model=model_architectures()["llama-3.1-8b"], traffic=traffic))
    assert result.verdict == "colocated"
    assert [condition.is_met for condition in result.conditions] == [False] * 4
    assert result.chosen.nodes == 1


def test_impossible_targets_say_which_and_by_how_much(question: Question) -> None:
    """One line a target: value, target, distance and the best plan."""
    with pytest.raises(UserError) as error:
        answer(with_targets(question, ttft="50ms", itl="30ms"))
    assert len(error.value.lines) == 1
    line = error.value.lines[0]
    assert line.startswith("target cannot be met: ttft p95 is ")
    assert "target 50.0 ms: over by " in line
    assert "the best plan of up to 8 nodes (" in line


def test_traffic_beyond_the_node_limit_says_what_can_be_served(question: Question) -> None:
    """The rate that the best plan reaches stands beside the one that was asked for."""
    profile = question.traffic.profile.model_copy(update={"rate": 200.0})
    asked = replace(question, traffic=Traffic(profile), max_nodes=2)
    with pytest.raises(UserError, match=r"traffic cannot be served: .* of 200\.00; raise"):
        answer(asked)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("nodes", [2, 8])
def test_of_overloaded_plans_the_one_that_finishes_most_is_named(
    nodes: int, question: Question
) -> None:
    """It uses all nodes, although no plan has finished anything when the last request arrives."""
    profile = question.traffic.profile.model_copy(update={"rate": 500.0})
    asked = replace(question, traffic=Traffic(profile), max_nodes=nodes)
    found = search(asked).colocated
    assert found is not None
    assert found.result.is_overloaded
    assert found.nodes == nodes
    assert found.result.request_rate == pytest.approx(4.7 * nodes, rel=0.25)


def test_a_plan_that_cannot_run_says_so_with_the_sum(question: Question) -> None:
    """Not only that there is none: what it has and what it needs."""
    tight = replace(question, gpu_memory_utilization=0.2)
    with pytest.raises(UserError, match=r"no disaggregated plan can run: TP 8 on H100: 16\.0 GiB"):
        answer(tight, topology="disaggregated")
    assert any("16.0 GiB (0.2 x 80.0)" in line for line in answer(tight).reasons)
    small = search(replace(question, gpu_memory_utilization=0.25)).disaggregated
    assert small is not None  # in batches of 2,048 tokens it just fits


def test_nixl_allows_several_decode_workers(question: Question) -> None:
    """They share what one could not do, and there is no buffer to fit."""
    profile = question.traffic.profile.model_copy(update={"rate": 30.0})
    asked = replace(self_managed(question), traffic=Traffic(profile), max_nodes=14)
    found = search(replace(asked, max_decode_replicas=3)).disaggregated
    alone = search(asked).disaggregated
    assert found is not None
    assert alone is not None
    assert found.is_good
    assert found.plan.decode_replicas > 1
    assert found.plan.pd_buffer_bytes == found.plan.routing_threshold == 0
    assert not alone.is_good or alone.result.itl.p95 > found.result.itl.p95


def test_a_model_that_does_not_fit_says_so_with_the_sum(question: Question) -> None:
    """Llama 405B in 16 bits on one node of H100."""
    with pytest.raises(UserError) as error:
        answer(replace(question, model=model_architectures()["llama-3.1-405b"]))
    line = error.value.lines[0]
    assert len(error.value.lines) == 1
    assert "Llama 3.1 405B does not fit: TP 8 on H100: 72.0 GiB (0.9 x 80.0) - 94.3 weights" in line
    assert "needs 1.0" in line


def test_a_verdict_that_hangs_on_the_models_error_says_so(question: Question) -> None:
    """Colocated on the same machines misses 30 ms by 3 %: no one should sign that unmeasured."""
    tight = replace(question, tensor_parallel=(8, 4), requests=10_000)
    result = answer(tight)
    assert result.verdict == "disaggregated"
    assert any("the verdict hangs on 2 colocated" in line for line in result.confidence)
    clear = answer(with_targets(tight, ttft="2s", itl="26ms"))
    assert not any("hangs on" in line for line in clear.confidence)


def test_a_pd_buffer_must_hold_the_longest_prompt_and_fit_beside_vllm(question: Question) -> None:
    """0.625 GiB at least; at most what 25 % of 80 GiB leave."""
    assert problem(SPLIT, question) is None
    small = problem(replace(SPLIT, pd_buffer_bytes=GIB // 2), question)
    large = problem(replace(SPLIT, pd_buffer_bytes=17 * GIB), question)
    assert small == "PD buffer of 0.50 GiB is smaller than the longest prompt of 0.62 GiB"
    assert large is not None
    assert "the PD buffer does not fit" in large


def test_roles_never_share_a_node() -> None:
    """Two TP 4 prefill workers fit on one node, the decode worker takes another."""
    plan = replace(SPLIT, tensor_parallel=4, prefill_replicas=2)
    assert plan.nodes(8) == 2
    assert replace(plan, prefill_replicas=3).nodes(8) == 3


@pytest.mark.parametrize("name", sorted(instance_types()))
def test_every_instance_type_can_be_planned(name: str, question: Question) -> None:
    """A plan with a price for each of the five."""
    result = answer(replace(question, instance=instance_types()[name], requests=600))
    assert result.chosen.usd_per_hour > 0
    assert result.chosen.result.output_token_rate == pytest.approx(5 * 256, rel=0.15)
