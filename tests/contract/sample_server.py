"""Serves the sample by itself, as a process that a test can signal.

``python -m tests.contract.sample_server LISTEN OPS_LISTEN LAME_DUCK_SECONDS DRAIN_SECONDS``
"""

from __future__ import annotations

import asyncio
import sys
import time

from services.runtime import host, launch, log
from tests.contract import sample
from tests.contract.sample import Sample


async def obey(request: sample.Request, context: sample.UnaryContext) -> sample.Response:
    """Wait, block the loop, or echo, as the text says: ``wait 2``, ``block 2``, ``hello``."""
    verb, _, seconds = request.page_token.partition(" ")
    if verb == "wait":
        await asyncio.sleep(float(seconds))
    if verb == "block":
        time.sleep(float(seconds))  # noqa: ASYNC251 - a loop that hangs is what is tested
    return sample.response(request.page_token)


def main() -> int:
    """Serve until told to stop."""
    listen, ops_listen, lame_duck_s, drain_s = sys.argv[1:]
    log.configure(form="json")
    options = host.ServerOptions(
        listen, ops_listen, lame_duck_s=float(lame_duck_s), drain_s=float(drain_s)
    )
    return launch.run(lambda: host.serve([sample.bundle(Sample(on_unary=obey))], options))


if __name__ == "__main__":
    sys.exit(main())
