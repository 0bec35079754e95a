"""Going on from an answer that a provider keeps, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from gateway.codec.requests import dispatch_request, select_request
from gateway.eligibility import Policy
from gateway.model import Action, BindingRef, EligibilityRecord, Grant, PresentedIdentity
from services.domain.catalog import build_catalog
from services.domain.errors import Reason, RouterError
from tests.fakes.ports import FakeCredentials
from tests.integration.gateway.conftest import Stack, head, tail
from tests.integration.gateway.test_responses import DONE, RESPONSES, SPOKEN, STARTED

ASKED = {"model": "claude-large", "input": "hello"}
NAMED = {"session-id": "11111111-2222-3333-4444-555555555555"}
WINDOW = 10_000
GLOBEX = BindingRef("claude-large", "globex", "claude-large", 1, WINDOW)


@dataclass
class Account(FakeCredentials):
    """Grants one stored credential."""

    async def select(
        self,
        action: Action,
        bindings: Sequence[BindingRef],
        record: EligibilityRecord,
        presented: Sequence[PresentedIdentity],
        max_wait_s: float = 0.0,
    ) -> Grant | None:
        await super().select(action, bindings, record, presented, max_wait_s)
        known = FakeCredentials()
        grant = await known.select(action, bindings, record, presented, max_wait_s)
        assert grant is not None
        return Grant(0, grant.attribution, b"", credential_id="cred-7")


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    running = Stack(
        tmp_path / "ledger",
        credentials=Account(),
        catalog=build_catalog([{"models": [_model("claude-large"), _model("claude-small")]}]),
        policy=Policy(
            "cfg",
            ("acme", "globex"),
            families={"acme": RESPONSES, "globex": RESPONSES},
            known_providers=("acme", "globex"),
        ),
    )
    await running.start()
    yield running
    await running.aclose()


def _model(name: str) -> dict[str, object]:
    price = {"input_usd_per_mtok": 3.0, "output_usd_per_mtok": 15.0}
    bindings = [{"provider": provider, **price} for provider in ("acme", "globex")]
    return {"id": name, "context_window": WINDOW, "bindings": bindings}


async def ask(
    stack: Stack, headers: dict[str, str] | None = None, **members: object
) -> tuple[int, bytes]:
    body = {**ASKED, **members}
    async with stack.session.post("/v1/responses", json=body, headers=headers) as got:
        return got.status, await got.read()


async def issue(stack: Stack, headers: dict[str, str] | None = None, **members: object) -> str:
    """Let the second provider of the model answer; return the id of its answer."""
    served = head(RESPONSES, binding=GLOBEX, fingerprint="abcd1234")
    stack.dispatch.steps = [STARTED, served, SPOKEN, DONE, tail()]
    status, streamed = await ask(stack, headers, stream=True, **members)
    assert status == 200
    first = streamed.partition(b"data: ")[2].partition(b"\n")[0]
    return str(orjson.loads(first)["response"]["id"])


def planned(stack: Stack) -> tuple[list[str], str]:
    """Return the providers of the last plan, and the credential that it asks for."""
    order = stack.dispatch.orders[-1]
    asked = select_request(order.action, order.plan.bindings, order.record, ())
    told = dispatch_request(order.action, order.record, order.plan, None, "v").plan
    assert told.required_credential_id == asked.required_credential_id
    providers = [binding.provider for binding in order.plan.bindings]
    for rescue in order.plan.rescues:
        providers += [binding.provider for binding in rescue.bindings]
    return providers, asked.required_credential_id


@pytest.mark.spec("XLT-78")
@pytest.mark.parametrize("headers", [None, NAMED])
@pytest.mark.parametrize("model", ["claude-large", "claude-small"])
async def test_who_goes_on_from_an_answer_gets_its_provider_and_credential(
    stack: Stack, headers: dict[str, str] | None, model: str
) -> None:
    answer_id = await issue(stack, headers)
    assert planned(stack) == (["acme", "globex"], "")
    await ask(stack, headers, model=model, input="more", previous_response_id=answer_id)
    providers, credential_id = planned(stack)
    assert set(providers) == {"globex"}
    assert credential_id == "cred-7"
    await ask(stack, headers, input="something else")
    assert planned(stack) == (["acme", "globex"], "")


@pytest.mark.spec("XLT-78")
async def test_a_whole_answer_is_known_too_and_one_that_nobody_keeps_is_not(stack: Stack) -> None:
    whole = orjson.dumps({"id": "resp_whole", "object": "response", "output": []})
    served = head(RESPONSES, is_stream=False, binding=GLOBEX, fingerprint="other")
    stack.dispatch.steps = [STARTED, served, whole, tail()]
    await ask(stack)
    await ask(stack, previous_response_id="resp_whole")
    assert planned(stack) == (["globex"], "")
    unkept = await issue(stack, store=False)
    await ask(stack, previous_response_id=unkept)
    assert planned(stack) == (["acme", "globex"], "")


@pytest.mark.spec("XLT-78")
async def test_an_issuer_that_is_gone_is_400_and_names_the_member(stack: Stack) -> None:
    answer_id = await issue(stack)
    stack.credentials.refusal = RouterError(Reason.CREDENTIALS_UNAVAILABLE, "disabled")
    status, body = await ask(stack, previous_response_id=answer_id)
    assert (status, orjson.loads(body)["error"]["param"]) == (400, "previous_response_id")
    stack.credentials.refusal = RouterError(Reason.ALL_CREDENTIALS_COOLING, "soon", retry_after_s=9)
    status, _ = await ask(stack, previous_response_id=answer_id)
    assert status == 429
    stack.credentials.refusal = None
    snapshot = stack.credentials.snapshot
    assert snapshot is not None
    stack.credentials.snapshot = type(snapshot)("v2", snapshot.providers[:1])
    status, body = await ask(stack, previous_response_id=answer_id)
    assert (status, orjson.loads(body)["error"]["param"]) == (400, "previous_response_id")


async def test_another_callers_word_for_an_answer_means_nothing(stack: Stack) -> None:
    answer_id = await issue(stack, NAMED)
    await ask(stack, previous_response_id=answer_id)
    assert planned(stack) == (["acme", "globex"], "")


@pytest.mark.spec("XLT-78", "DSP-162")
async def test_what_is_too_long_for_the_issuers_models_is_told_to_be_too_long(stack: Stack) -> None:
    answer_id = await issue(stack)
    too_long = "word " * WINDOW
    status, body = await ask(stack, input=too_long, previous_response_id=answer_id)
    assert (status, orjson.loads(body)["error"]["param"]) == (413, None)
