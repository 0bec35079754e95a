"""Builds the body of each attempt anew from what the client sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias

from services.domain.catalog import ModelFacts, Quirks
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import read_request
from services.domain.wire.model import HouseRules, Target, WireError
from services.domain.wire.state.requests import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.dispatch.model.plan import BindingRef
    from services.domain.catalog import Binding, Catalog
    from services.domain.wire.codec import Codec
    from services.domain.wire.model import Address, EncodedRequest, Request
    from services.domain.wire.state.kept import Restored

    CodecOf: TypeAlias = Callable[[WireFamily], Codec]


class ClientBody:
    """One client body; read at most once, however many targets it is built for."""

    def __init__(
        self,
        family: WireFamily,
        body: bytes,
        codec_of: CodecOf,
        address: Address | None = None,
        *,
        restored: Sequence[Restored] = (),
    ) -> None:
        self.family = family
        self._body = body
        self._codec_of = codec_of
        self._address = address
        self._restored = restored
        self._request: Request | None = None

    @property
    def request(self) -> Request:
        """The canonical form.

        Raises:
            InvalidRequestError: the body is not readable in its dialect.
        """
        if self._request is None:
            try:
                codec = self._codec_of(self.family)
                self._request = read_request(codec, self._body, self._address)
            except WireError as error:
                path = f"body.body.{error.path}" if error.path else "body.body"
                raise InvalidRequestError.of(path, error.message) from None
        return self._request

    def build(self, target: Target) -> EncodedRequest:
        """Return the body for ``target``: spliced in the client's own dialect, else encoded.

        Raises:
            InvalidRequestError: the body is not readable in its dialect, or says what no target
                can be told.
            UnbuildableError: the target cannot express the request.
            RouterError: TARGET_MISMATCH; the built body does not name the target's model.
        """
        codec = self._codec_of(target.family)
        try:
            if target.family is self.family:
                encoded = codec.splice_request(self._body, self.request, target)
            else:
                encoded = codec.encode_request(opened(self.request, self._restored), target)
        except WireError as error:
            raise InvalidRequestError.of(f"body.body.{error.path}", error.message) from None
        is_named_by_address = target.family is WireFamily.GEMINI
        if not is_named_by_address and not names_model(encoded.body, target.upstream_id):
            raise RouterError(
                Reason.TARGET_MISMATCH,
                f"the body built for {target.model_id} at {target.provider} names another model",
                metadata={"model": target.model_id, "provider": target.provider},
            )
        return encoded


_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRINGS = re.compile(_STRING, re.DOTALL)
_NAMED = re.compile(rb'"model"\s*:\s*(' + _STRING + rb")", re.DOTALL)
_NAMED_FIRST = re.compile(rb"\s*\{\s*" + _NAMED.pattern, re.DOTALL)


def names_model(body: bytes, upstream_id: str) -> bool:
    """Return whether the member ``model`` of the body itself has that value, however written.

    One pass: what stands between two places that look like the member is read once.
    """
    if first := _NAMED_FIRST.match(body):
        return bool(upstream_id) and _text_of(first[1]) == upstream_id
    depth = at = 0
    for match in _NAMED.finditer(body):
        between = _STRINGS.sub(b"", body[at : match.start()])
        outside, is_inside_text, _ = between.partition(b'"')
        depth += _opened(outside)
        if depth == 1 and not is_inside_text:
            return bool(upstream_id) and _text_of(match[1]) == upstream_id
        at = match.start() + len('"model"')
    return False


def _text_of(quoted: bytes) -> str:
    """Return the value of a JSON string."""
    value: str = json.loads(quoted) if b"\\" in quoted else quoted[1:-1].decode()
    return value


def _opened(outside: bytes) -> int:
    """Return how many more containers are opened than closed in what is outside of texts."""
    opened = outside.count(b"{") + outside.count(b"[")
    return opened - outside.count(b"}") - outside.count(b"]")


def catalog_binding(catalog: Catalog, ref: BindingRef) -> Binding | None:
    """Return the catalog's row of a binding: by provider, and by place where there are several."""
    model, first = catalog.models.get(ref.model_id), None
    for row in model.bindings if model else ():
        if row.provider == ref.provider:
            if row.index == ref.binding_index:
                return row
            first = first or row
    return first


def upstream_id_of(catalog: Catalog, ref: BindingRef, granted_upstream_id: str = "") -> str:
    """Return the name of a model at its endpoint.

    That of the granted endpoint wins over the planned one, and that over the catalog's.
    """
    named = granted_upstream_id or ref.upstream_id
    row = catalog_binding(catalog, ref) if not named else None
    return named or (row.upstream_id if row else "") or ref.model_id


def target_of(
    catalog: Catalog,
    ref: BindingRef,
    family: WireFamily,
    *,
    granted_upstream_id: str = "",
    is_vendor: bool = False,
    is_model_switched: bool = False,
    affinity_key: str = "",
    effort: str = "",
    rules: HouseRules | None = None,
) -> Target:
    """Return where a body goes, with the catalog's facts; those of an unknown model are mild."""
    model = catalog.models.get(ref.model_id)
    row = catalog_binding(catalog, ref)
    return Target(
        family=family,
        provider=ref.provider,
        model_id=ref.model_id,
        upstream_id=upstream_id_of(catalog, ref, granted_upstream_id),
        facts=model.facts if model else ModelFacts(),
        max_output_tokens=row.max_output_tokens if row else None,
        is_vendor=is_vendor,
        is_model_switched=is_model_switched,
        affinity_key=affinity_key,
        effort=effort,
        quirks=row.quirks if row else Quirks(),
        rules=rules or HouseRules(),
    )
