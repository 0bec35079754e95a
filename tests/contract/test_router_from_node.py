"""A client in another language, made from nothing but the protos, asks and is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import google.rpc
import pytest

from services.domain.errors import Reason
from tests.contract.test_router import BODY, KEY, Rig
from tests.contract.transports import Transport, serving

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "tests" / "clients" / "route.cjs"
NODE = shutil.which("node")
INCLUDES = (ROOT / "protos", Path(google.rpc.__path__[0]).parents[1])
"""Our contract and Google's shared one."""
SOON_S = 30.0

pytestmark = pytest.mark.skipif(
    NODE is None or not (CLIENT.parent / "node_modules" / "@grpc").is_dir(),
    reason="needs Node and the packages of tests/clients",
)


async def asked(target: str, token: str, body: bytes) -> dict[str, object]:
    program = await asyncio.create_subprocess_exec(
        NODE or "node",
        str(CLIENT),
        target,
        token,
        body.decode(),
        *map(str, INCLUDES),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(SOON_S):
        said, complaints = await program.communicate()
    assert program.returncode == 0, complaints.decode()
    answer = json.loads(said)
    assert isinstance(answer, dict)
    return answer


async def test_node_reads_a_decision_and_the_reason_of_a_refusal() -> None:
    async with serving(await Rig().bundle(), Transport.TCP) as served:
        target = served.target.removeprefix("dns:///")
        decided = await asked(target, KEY, BODY)
        unreadable = await asked(target, KEY, b"{")
        stranger = await asked(target, "rk_nobody_0123456789abcdefghij", BODY)
    match decided:
        case {"answer": {"decision": {"binding": binding, "score": {"candidates": candidates}}}}:
            assert binding["model_id"] == "small"
            assert candidates[0]["binding"]["model_id"] == "small"
            assert candidates[0]["risk_ratio"] == pytest.approx(0.2)
        case _:
            pytest.fail(f"no decision: {decided}")
    assert unreadable["code"] == "INVALID_ARGUMENT"
    info = unreadable["info"]
    assert isinstance(info, dict)
    assert (info["domain"], info["reason"]) == ("pointsman", Reason.INVALID_REQUEST)
    assert stranger["code"] == "UNAUTHENTICATED"
