"""What the shell gives is text, or refused."""

from __future__ import annotations

import pytest

from services.cli.__main__ import run


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("credentials", "add", "openai", "--label", "\udcff"), "--label"),
        (("credentials", "add", "openai", "--alias=m=\udcff"), "--alias"),
        (("keys", "create", "\udcff"), r"argument '\udcff'"),
        (("route", "--follow", "--action", "\udcff"), "--action"),
        (("keys", "list", "--\udcff"), r"--\udcff"),
    ],
)
def test_bytes_that_are_no_text_exit_2_and_name_where_they_stand(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], where: str
) -> None:
    assert run(list(arguments)) == 2
    assert capsys.readouterr().err == f"error: {where}: must be text in UTF-8\n"
