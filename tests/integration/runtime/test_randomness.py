from __future__ import annotations

import subprocess
import sys

FORKING = """
import os
from services.runtime.randomness import random_bytes
random_bytes()
child = os.fork()
if child:
    os.waitpid(child, 0)
print(random_bytes().hex())
"""


def test_a_forked_child_is_given_other_bytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True, timeout=30
    )
    ours, its = done.stdout.split()
    assert ours != its
