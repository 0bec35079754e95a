"""Four providers at one fake, one of each family, and a model of each."""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.vocab import WireFamily
from tests.e2e.settings import Wishes
from tests.unit.domain.wire.recorded import FAMILIES

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

_BASES: Mapping[WireFamily, str] = {A: "", O: "/v1", R: "/v1", G: ""}
PATHS: Mapping[WireFamily, str] = {
    A: "/v1/messages",
    O: "/v1/chat/completions",
    R: "/v1/responses",
    G: "/v1beta/models/upstream-model:",
}
"""How the address begins at which a provider of a family is asked."""


def model_of(family: WireFamily) -> str:
    """Return the model that a provider of the family serves."""
    return f"by-{family.value}"


def key_of(family: WireFamily) -> str:
    """Return the key that the provider of the family is shown."""
    return f"key-of-{family.value}"


def four_families(upstream_url: str) -> Wishes:
    """Return what a deployment with all of them has beside the plain configuration."""
    return Wishes(
        tables="".join(_provider(family, upstream_url) for family in FAMILIES),
        models="".join(map(_model, FAMILIES)),
    )


def _provider(family: WireFamily, url: str) -> str:
    return f"""
[providers.of-{family.value}]
family = "{family.value}"
base_url = "{url}{_BASES[family]}"
api_key = "{key_of(family)}"
"""


def _model(family: WireFamily) -> str:
    return f"""
[[models]]
id = "{model_of(family)}"
tier = "mid"
context_window = 200000
max_output_tokens = 32000
[[models.bindings]]
provider = "of-{family.value}"
upstream_id = "upstream-model"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
"""
