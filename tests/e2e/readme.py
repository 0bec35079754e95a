"""The README as tests read it: its fenced blocks, and its gateway where ours listens."""

from __future__ import annotations

import re

from tests.e2e.deployments import ROOT, Deployment

README = (ROOT / "README.md").read_text()
ADDRESS = "127.0.0.1:8080"
"""Where the README's gateway listens."""
_FENCES = re.findall(r"^```([^\n]*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(info: str) -> list[str]:
    """Return the fenced blocks with that info string."""
    return [text for name, text in _FENCES if name.strip() == info]


def wiring(program: str) -> str:
    """Return the block that wires a client program; its info string is a language and the name."""
    (found,) = (text for name, text in _FENCES if name.split()[1:] == [program])
    return str(found).strip()


def moved(text: str, stack: Deployment) -> str:
    """Return a text of the README with the address at which our stack listens."""
    return text.replace(ADDRESS, stack.url.removeprefix("http://"))
