"""Requests of the planner's contract tests, and a seeded stream of random ones."""

from __future__ import annotations

import hashlib
import random
import sys

from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2 as pb

from services.planner.codec.requests import decode
from services.planner.codec.responses import encode
from services.planner.model.question import Economics
from services.planner.model.rules import Rules
from services.planner.policy.decision import decide

PIN, FRESH = ("m-top", "p1"), ("m-mid", "p2")


def ref(name: tuple[str, str]) -> binding_pb2.BindingRef:
    """Return a binding."""
    return binding_pb2.BindingRef(model_id=name[0], provider=name[1])


def price_row(name: tuple[str, str], rate: int, output: int) -> binding_pb2.BindingPrice:
    """Return a price row; rates are micro-USD per million tokens."""
    price = binding_pb2.Price(
        input_micro_usd_per_mtok=rate,
        output_micro_usd_per_mtok=output,
        cache_read_multiplier=0.1,
        cache_write_multiplier=1.25,
    )
    return binding_pb2.BindingPrice(binding=ref(name), price=price)


def request() -> pb.PlanActionRequest:
    """Return the first worked example of value economics: a switch worth 0.1396 USD."""
    return pb.PlanActionRequest(
        pin=pb.Pin(
            binding=ref(PIN),
            has_completed_action=True,
            cache_state=pb.CACHE_STATE_WARM,
            tier=binding_pb2.MODEL_TIER_TOP,
            risk_ratio=0.01,
            mean_risk_ratio=0.02,
        ),
        fresh=pb.FreshDecision(
            binding=ref(FRESH),
            tier=binding_pb2.MODEL_TIER_MID,
            risk_ratio=0.05,
            mean_risk_ratio=0.10,
        ),
        input_token_count=50_000,
        cacheable_prefix_token_count=40_000,
        output_token_count=600,
        prices=[price_row(PIN, 5_000_000, 25_000_000), price_row(FRESH, 1_000_000, 5_000_000)],
        catalog_version="c1",
        config_version="v1",
        eligibility_id="e1",
    )


def random_request(source: random.Random) -> pb.PlanActionRequest:
    """Return a request in which everything varies, absent fields included."""
    asked = request()
    asked.input_token_count = source.randrange(200_000)
    asked.output_token_count = source.randrange(8_000)
    asked.cacheable_prefix_token_count = source.randrange(200_000)
    if source.random() < 0.2:
        asked.ClearField("cacheable_prefix_token_count")
    if source.random() < 0.05:
        asked.ClearField("pin")
    else:
        asked.pin.cache_state = source.choice([pb.CACHE_STATE_WARM, pb.CACHE_STATE_COLD])
        asked.pin.has_completed_action = source.random() < 0.95
        asked.pin.risk_ratio = source.random()
        if source.random() < 0.2:
            asked.pin.ClearField("risk_ratio")
    for row in asked.prices:
        row.price.input_micro_usd_per_mtok = source.randrange(1, 30_000_000)
        row.price.output_micro_usd_per_mtok = source.randrange(1, 90_000_000)
        row.price.cache_read_multiplier = source.random()
        row.price.cache_write_multiplier = 1 + source.random()
    asked.fresh.risk_ratio = source.random()
    asked.fresh.leftover_prefix_token_count = source.choice([0, source.randrange(200_000)])
    if source.random() < 0.3:
        asked.cost_factors[FRESH[0]] = source.random()
    if source.random() < 0.3:
        asked.summary.input_token_count = source.randrange(30_000)
        asked.summary.cost_micro_usd = source.randrange(300_000)
    return asked


def digest_of_random_answers(seed: int, count: int) -> str:
    """Return a digest over the bytes of the answers to ``count`` random requests."""
    source = random.Random(seed)
    digest = hashlib.sha256()
    rules = [Rules(economics=economics) for economics in Economics]
    for number in range(count):
        asked = decode(random_request(source))
        answer = encode(decide(asked.question, rules[number % len(rules)]), asked.labels, "1.0.0")
        digest.update(answer.SerializeToString(deterministic=True))
    return digest.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest_of_random_answers(int(sys.argv[1]), int(sys.argv[2])))
