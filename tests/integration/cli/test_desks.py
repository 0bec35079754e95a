"""The same command does the same at a router and on the store."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.integration.cli.conftest import Commands
from tests.integration.cli.ways import ADMIN, Router

SECRET = "sk-ant-api03-canary-of-the-command-line"
"""Said to the commands; nothing may say it again."""


def made(pointsman: Commands, *more: str) -> dict[str, object]:
    added = pointsman(
        *("credentials", "add", "anthropic", "--secret-env", "TEAM", "--json", *more), TEAM=SECRET
    )
    assert added.code == 0, added.err
    found: dict[str, object] = json.loads(added.out)
    return found


@pytest.mark.spec("CRD-154", "CRD-152")
def test_a_credential_is_added_shown_changed_switched_reset_and_removed(
    pointsman: Commands,
) -> None:
    others = json.loads(pointsman("credentials", "list", "--json").out)
    one = made(
        pointsman,
        *("--label", "team-a", "--priority", "7", "--kind", "claude_oauth"),
        *("--expires-at", "2030-01-31T12:00:00Z", "--overage", "deny", "--model", "m1"),
        *("--alias", "m1=n1"),
    )
    identity, fingerprint = str(one["id"]), str(one["fingerprint"])
    assert (one["label"], one["priority"], one["kind"]) == ("team-a", 7, "claude_oauth")
    assert (one["overage"], one["token_expires"]) == ("deny", "2030-01-31T12:00:00+00:00")
    assert (one["origin"], one["enabled"], one["aliases"]) == ("stored", True, {"m1": "n1"})
    for name in (identity, fingerprint, "team-a"):
        assert json.loads(pointsman("credentials", "show", name, "--json").out) == one
    off = json.loads(pointsman("credentials", "disable", "team-a", "--json").out)
    on = json.loads(pointsman("credentials", "enable", fingerprint, "--json").out)
    assert (off["enabled"], on["enabled"]) == (False, True)
    changed = json.loads(
        pointsman(
            *("credentials", "set", "team-a", "--priority", "3", "--cooling", "off", "--json"),
            *("--secret-env", "NEWER"),
            NEWER=SECRET + "-2",
        ).out
    )
    assert (changed["priority"], changed["cooling"], changed["secret"]) == (3, "off", "…ne-2")
    assert {**changed, "priority": 7, "cooling": "inherit", "secret": one["secret"]} == one | {
        "token_expires": changed["token_expires"]
    }
    reset = json.loads(pointsman("credentials", "reset", "team-a", "--json").out)
    assert reset == {"id": identity, "cleared": 0}
    listed = pointsman("credentials", "list")
    assert fingerprint in listed.out
    again = pointsman(
        *("credentials", "add", "anthropic", "--kind", "claude_oauth", "--secret-env", "TEAM"),
        TEAM=SECRET + "-2",
    )
    assert (again.code, fingerprint in again.error) == (1, True)
    sealed = json.loads(pointsman("credentials", "reencrypt", "--json").out)
    assert sealed == {"reencrypted": 0, "up_to_date": 1 + len(others), "unreadable": 0}
    removed = json.loads(pointsman("credentials", "remove", "team-a", "--json").out)
    assert removed == {"id": identity, "state": "removed"}
    assert json.loads(pointsman("credentials", "list", "--json").out) == others
    said = [pointsman.router.log] if pointsman.router is not None else []
    said += [each.out + each.err for each in (listed, again)]
    assert [text for text in said if "canary" in text] == []


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("show", "nobody"), 1, "no credential is named 'nobody'"),
        (("add", "acne", "--secret-env", "S"), 1, "provider: must be one of"),
        (
            ("add", "anthropic", "--kind", "gateway", "--secret-env", "S"),
            1,
            "base_url: must be set",
        ),
        (("add", "anthropic", "--secret-env", "S", "--model-prefix", "a/b"), 1, "model_prefix: "),
        (("add", "anthropic", "--secret-env", "S", "--weight", "-1"), 1, "weight: "),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_it(
    pointsman: Commands, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    refused = pointsman("credentials", *arguments, S=SECRET)
    assert refused.code == code
    assert refused.error.startswith(f"error: {complaint}")
    assert "canary" not in refused.error


@pytest.mark.spec("OPS-19", "OPS-20")
def test_keys_are_made_listed_rotated_and_revoked(pointsman: Commands) -> None:
    def states() -> dict[str, str]:
        listed = json.loads(pointsman("keys", "list", "--json").out)
        return {row["id"]: row["state"] for row in listed}

    made = json.loads(pointsman("keys", "create", "laptop", "--json").out)
    token, name = made["token"], made["key"]["id"]
    assert token.startswith("rk_")
    assert states()[name] == "live"
    done = pointsman("keys", "rotate", name, "--grace-seconds", "60", "--json")
    newer = json.loads(done.out)
    assert (newer["key"]["name"], newer["token"] != token) == ("laptop", True)
    again = pointsman("keys", "rotate", name)
    assert (again.code, again.error) == (
        1,
        f"error: no live key {name}: `pointsman keys list` shows the ids",
    )
    revoked = json.loads(pointsman("keys", "revoke", newer["key"]["id"], "--json").out)
    assert revoked == {"id": newer["key"]["id"], "state": "revoked"}
    assert states()[newer["key"]["id"]] == "revoked"
    gone = pointsman("keys", "revoke", "no/such")
    assert (gone.code, "no/such" in gone.error) == (1, True)
    foreign = pointsman("keys", "create", "x", "--installation", "elsewhere")
    assert foreign.error == ("error: no installation 'elsewhere': leave it out for the default one")


@pytest.mark.spec("POL-14")
def test_models_are_kept_from_being_picked_and_given_back(pointsman: Commands) -> None:
    def said(*arguments: str) -> dict[str, object]:
        done = pointsman("exclusions", *arguments, "--json")
        assert done.code == 0, done.err
        found: dict[str, object] = json.loads(done.out)
        return found

    before = said("list")
    assert (before["excluded"], before["is_pinned"]) == ([], False)
    told = said("set", "claude-haiku-4-5=too slow today", "claude-sonnet-5")
    assert told["excluded"] == [
        {"model": "claude-haiku-4-5", "reason": "too slow today"},
        {"model": "claude-sonnet-5", "reason": ""},
    ]
    assert told["config_version"] != before["config_version"]
    assert said("list") == told
    assert "claude-haiku-4-5\ttoo slow today" in pointsman("exclusions", "list").out
    unknown = pointsman("exclusions", "set", "claude-haiku-4-6")
    assert unknown.code == 1
    assert unknown.error.startswith("error: excluded.0.model: no model 'claude-haiku-4-6'; did")
    assert said("set") == before


def test_the_ledger_is_audited(pointsman: Commands) -> None:
    done = pointsman("ledger", "verify", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"row_count": 0, "charged_micros": 0, "drifts": []}


@pytest.mark.spec("OPS-101")
def test_a_key_that_is_revoked_at_a_router_is_refused_by_it_at_once(router: Router) -> None:
    admin = {"authorization": f"Bearer {ADMIN}"}
    with httpx.Client(base_url=router.url, trust_env=False) as client:
        made = client.post("/admin/v1/keys", json={"name": "short"}, headers=admin).json()
        key = {"x-router-key": made["token"]}
        assert client.get("/v1/models", headers=key).status_code == 200
        path = f"/admin/v1/keys/{made['key']['id']}"
        assert client.delete(path, headers=admin).status_code == 204
        assert client.get("/v1/models", headers=key).status_code == 401


def test_without_a_token_the_store_is_used_beside_a_router(router: Router, plain: Commands) -> None:
    before, file = router.orders, str(router.home / "pointsman.toml")
    assert plain("keys", "list", "--config", file).code == 0
    assert router.orders == before
    told = plain("keys", "list", "--server", router.url)
    assert (told.code, told.error) == (
        2,
        f"error: POINTSMAN_ADMIN_TOKEN: set it to the admin token of {router.url}",
    )
    wrong = plain("keys", "list", "--server", router.url, POINTSMAN_ADMIN_TOKEN="wrong")
    assert (wrong.code, wrong.error) == (1, "error: the admin token is missing or wrong")


def test_an_empty_server_is_the_store(router: Router, plain: Commands) -> None:
    before, file = router.orders, str(router.home / "pointsman.toml")
    chosen = ("--config", file, "--server", "")
    assert plain("keys", "list", *chosen, POINTSMAN_ADMIN_TOKEN=ADMIN).code == 0
    assert router.orders == before


@pytest.mark.parametrize("server", ["http://192.0.2.1:8080", "router.example:80"])
def test_a_secret_is_not_sent_in_clear_over_a_network(plain: Commands, server: str) -> None:
    done = plain(
        *("credentials", "add", "anthropic", "--secret-env", "S", "--server", server),
        S=SECRET,
        POINTSMAN_ADMIN_TOKEN=ADMIN,
    )
    assert done.code == 2
    assert "would travel there in clear text" in done.error


@pytest.mark.parametrize("server", ["ftp://127.0.0.1", "http://127.0.0.1:port", "http://"])
def test_what_is_no_address_of_a_router_is_refused(plain: Commands, server: str) -> None:
    done = plain("keys", "list", "--server", server, POINTSMAN_ADMIN_TOKEN=ADMIN)
    assert (done.code, "must be http://HOST:PORT" in done.error) == (2, True)
