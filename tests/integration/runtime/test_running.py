"""Commands find a router that runs, and none that is gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from services.runtime import running
from tests.integration.cli.pointsman import environment

URL = "http://127.0.0.1:8080"
PROGRAM = """
import sys, time
from services.runtime import running
with running.marked(sys.argv[1], sys.argv[2]) as is_marked:
    print(is_marked, flush=True)
    time.sleep(60)
"""


def test_a_router_is_found_while_it_lives_however_it_ends(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/p.db"
    program = subprocess.Popen(
        (sys.executable, "-c", PROGRAM, database, URL),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "True\n"
        assert running.found(database) == URL
        with running.marked(database, "http://127.0.0.1:1") as is_second:
            assert not is_second
        assert running.found(database) == URL
    finally:
        program.kill()
        program.communicate()
    assert running.found(database) == ""


def test_the_file_is_its_owners_and_says_nothing_afterwards(tmp_path: Path) -> None:
    database = f"{tmp_path}/p.db"
    mark = tmp_path / "p.db.running"
    with running.marked(database, URL) as is_marked:
        assert is_marked
        assert mark.stat().st_mode & 0o777 == 0o600
    assert mark.read_bytes() == b""
    mark.write_text(f'{{"url": "{URL}"}}')
    assert running.found(database) == ""


def test_nobody_is_found_on_other_databases(tmp_path: Path) -> None:
    for database in ("postgresql://db/pointsman", "sqlite://", f"{tmp_path}/none/p.db"):
        with running.marked(database, URL) as is_marked:
            assert not is_marked
        assert running.found(database) == ""
