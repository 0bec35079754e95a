"""The short form of the campaigns: the same inputs on every machine, a few hundred per reader."""

from __future__ import annotations

import pytest

from tests.fuzz.drawn import batch
from tests.fuzz.inputs import TARGETS, Target

EXAMPLES = 300


@pytest.mark.spec("XLT-32", "XLT-33", "XLT-225")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_spoiled_input_is_read_or_refused_in_words(target: Target) -> None:
    finding = batch(target, EXAMPLES, from_seed=0)
    assert finding is None, finding.trace
