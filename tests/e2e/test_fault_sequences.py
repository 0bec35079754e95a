"""Fault sequences that take a vendor of its own name: fast tiers, refusals, plans of the caller's.

As with every fault: a whole answer in the client's dialect, and a ledger that tells who served.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator

import orjson
import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e import faults
from tests.e2e.faults import WORDS, Stand, provider, read
from tests.e2e.settings import Wishes
from tests.fakes.upstream import Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")
STREAMED = pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
REFUSAL = "this was flagged for possible cybersecurity risk"
REPORT_SECONDS = 0.3
"""Time for what an attempt told to be known to the next action."""
ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT
RESPONSES = WireFamily.OPENAI_RESPONSES


def swift(family: WireFamily, *, is_stream: bool) -> str:
    """Return a model that is sold fast: what one teaches of its tier says nothing of others."""
    return f"swift-{family.value}-{'stream' if is_stream else 'whole'}"


SWIFT = [swift(f, is_stream=is_stream) for f in WireFamily for is_stream in (True, False)]
FREE = "swift-and-free"


def _model(name: str, vendor: str, more: str = "") -> str:
    return (
        f'\n[[models]]\nid = "{name}"\ntier = "mid"\ncontext_window = 200000\n'
        f'[[models.bindings]]\nprovider = "{vendor}"\nupstream_id = "at-{vendor}@{name}"\n'
        f"input_usd_per_mtok = 1.0\noutput_usd_per_mtok = 1.0\n{more}"
    )


FAST = "fast_input_usd_per_mtok = 6.0\nfast_output_usd_per_mtok = 6.0\n"
BY_RESPONSES = 'wire_family = "openai_responses"\ncodex_plan = true\n'
WISHES = Wishes(
    models="".join(_model(name, "anthropic", FAST) for name in (*SWIFT, FREE))
    + _model("planned", "anthropic")
    + _model("guarded", "openai", BY_RESPONSES),
    dispatch=f"fast_models = {orjson.dumps([*SWIFT, FREE]).decode()}\n",
    routing='cyber_refusal_fallback_model = "spare-anthropic"\n',
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stand]:
    home = tmp_path_factory.mktemp("home")
    async with faults.standing(home, wishes=WISHES) as standing:
        yield standing


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def audited(stand: Stand) -> AsyncIterator[None]:
    stand.clear()
    yield
    await faults.audit(stand)


@STREAMED
@pytest.mark.spec("DSP-60", "DSP-232")
async def test_s22_a_fast_send_without_quota_is_served_at_the_list_price(
    stand: Stand, is_stream: bool
) -> None:
    full = Fault(status=429, message="Fast mode is out of capacity", retry_after=30)
    stand.failing.script(full, times=None, match=Match(body='"speed":"fast"'))

    async def ask(family: WireFamily) -> None:
        name = swift(family, is_stream=is_stream)
        answer = await stand.ask(family, name, is_stream=is_stream)
        said = read(family, answer, is_stream=is_stream)
        assert (said.text, said.is_failed) == (WORDS, False)
        rows = await faults.rows_of(stand, {answer.headers["x-router-action-id"]}, 1)
        told = [r.json.get("speed") for r in stand.failing.requests if r.model.endswith(name)]
        assert told == ["fast", None]
        assert [(row.is_fast_tier, row.input_rate) for row in rows.values()] == [(False, 1_000_000)]

    await faults.in_each(stand, ask, is_stream=is_stream)


@STREAMED
@pytest.mark.spec("DSP-230", "DSP-232")
async def test_a_fast_send_that_is_served_has_the_fast_price(stand: Stand, is_stream: bool) -> None:
    answer = await stand.ask(CHAT, FREE, is_stream=is_stream)
    (row,) = (await faults.rows_of(stand, {answer.headers["x-router-action-id"]}, 1)).values()
    assert (row.is_fast_tier, row.input_rate) == (True, 6_000_000)


@STREAMED
@pytest.mark.spec("DSP-103", "DSP-108")
async def test_s13_a_refusal_before_output_is_one_clean_turn_of_another_vendor(
    stand: Stand, is_stream: bool
) -> None:
    within = Fault(error_after=1, error_type="cyber_policy", message=REFUSAL)
    fault = within if is_stream else Fault(status=400, message=REFUSAL)
    stand.failing.script(fault, times=None)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, "guarded", is_stream=is_stream)
        said = read(family, answer, is_stream=is_stream)
        assert (said.text, said.is_failed) == (WORDS, False)
        assert "flagged" not in answer.text
        assert answer.headers["x-router-decision"] == "cyber-refusal-retry"
        assert answer.headers["x-router-provider"] == provider("backup", ANTHROPIC)

    await faults.in_each(stand, ask, is_stream=is_stream)


@pytest.mark.spec("DSP-108")
async def test_s14_a_refusal_after_output_is_told_and_asked_of_nobody_else(stand: Stand) -> None:
    fault = Fault(error_after=6, error_type="x", message=REFUSAL, chunks=8)
    stand.failing.script(fault, times=None)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, "guarded", is_stream=True)
        said = read(family, answer, is_stream=True)
        assert said.text
        assert (said.is_ended, said.is_failed) == (False, True)
        assert "flagged" in answer.text

    await faults.in_each(stand, ask, is_stream=True)


def codex_token(name: str) -> str:
    """Return a token of a plan in the form of those: signed by nobody."""
    parts = (orjson.dumps({"alg": "none"}), orjson.dumps({"sub": name}), b"signature")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


@STREAMED
@pytest.mark.spec("DSP-80", "DSP-82")
async def test_s10_a_claude_plan_that_is_throttled_gives_way_to_the_paid_key(
    stand: Stand, is_stream: bool
) -> None:
    token = f"sk-ant-oat01-plan-of-{'streams' if is_stream else 'wholes'}-0123456789"
    stand.failing.script(
        Fault(status=429, retry_after=30), times=None, match=Match(key=f"^{token}$")
    )
    answer = await stand.ask(
        ANTHROPIC, "planned", is_stream=is_stream, authorization=f"Bearer {token}"
    )
    assert read(ANTHROPIC, answer, is_stream=is_stream).text == WORDS
    keys = [request.key for request in stand.failing.requests]
    assert keys == [token, "key-of-anthropic"]
    rows = await faults.rows_of(stand, {answer.headers["x-router-action-id"]}, 2)
    told = [(row.credential_kind, row.is_charged) for _, row in sorted(rows.items())]
    assert told == [("claude_oauth", False), ("api_key", True)]


@STREAMED
@pytest.mark.parametrize("family", [CHAT, RESPONSES])
@pytest.mark.spec("DSP-90", "DSP-91", "DSP-93", "DSP-94")
async def test_s12_a_codex_plan_that_is_used_up_is_passed_over_until_it_is_back(
    stand: Stand, family: WireFamily, is_stream: bool
) -> None:
    token = codex_token(f"{family.value}-{is_stream}")
    body = {"error": {"type": "usage_limit_reached", "message": "used up", "resets_in_seconds": 60}}
    stand.failing.script(Fault(status=429, body=body), times=None, match=Match(key=f"^{token}$"))
    brought = {"authorization": f"Bearer {token}", "chatgpt_account_id": "account-1"}
    for sends in ([token, "key-of-openai"], ["key-of-openai"]):
        before = len(stand.failing.requests)
        answer = await stand.ask(family, "guarded", is_stream=is_stream, **brought)
        assert read(family, answer, is_stream=is_stream).text == WORDS
        assert [request.key for request in stand.failing.requests[before:]] == sends
        rows = await faults.rows_of(stand, {answer.headers["x-router-action-id"]}, len(sends))
        paid = [(row.credential_kind, row.is_charged) for _, row in sorted(rows.items())]
        assert paid == [("codex_oauth", False), ("api_key", True)][-len(sends) :]
        await asyncio.sleep(REPORT_SECONDS)
