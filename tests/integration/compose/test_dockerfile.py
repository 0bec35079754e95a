"""The Dockerfile agrees with the compose file, extras and ports; it builds by hash alone."""

from __future__ import annotations

import pytest

from tests.integration.compose import dockerfile
from tests.integration.compose.composition import FOLDER, composition, ports_of
from tests.integration.compose.images import extras_of_ours

WHOLE = composition()
OURS = {name: service for name, service in WHOLE.services.items() if service.build is not None}
each_target = pytest.mark.parametrize("name", sorted({s.target for s in OURS.values()}))


@each_target
def test_an_image_installs_its_own_extras_and_serves_as_nobody(name: str) -> None:
    stage = dockerfile.stages()[name]
    assert stage.base == "runtime"
    assert stage.extras == ({"all"} if name == "embedded" else {"cli", name})
    assert stage.extras <= set(extras_of_ours())
    assert stage.one("USER") == OURS[name].user
    assert stage.one("EXPOSE").split() == [str(port) for port in ports_of(name)]
    assert [step for step, _ in stage.steps][:2] == ["RUN", "USER"]


def test_every_target_is_a_part_or_all_of_them() -> None:
    made = {name for name, stage in dockerfile.stages().items() if stage.base == "runtime"}
    assert made == {*WHOLE.parts, "embedded"}
    for service in OURS.values():
        assert service.build is not None
        assert (
            FOLDER / service.build.context / service.build.dockerfile
        ).resolve() == dockerfile.FILE
        assert service.build.args["PYTHON_IMAGE"] in dockerfile.FILE.read_text()


def test_packages_come_from_the_hashed_lock_and_later_stages_ask_nobody() -> None:
    stages = dockerfile.stages()
    assert "--require-hashes -r requirements.lock" in stages["locked"].one("RUN")
    for name in ("wheels", "runtime"):
        assert "PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels" in " ".join(stages[name].all("ENV"))
    assert stages["runtime"].one("ENTRYPOINT") == '["pointsman"]'
    assert stages["runtime"].base == stages["locked"].base == "${PYTHON_IMAGE}"


def test_a_build_sees_what_it_copies_and_nothing_private() -> None:
    copied = [
        path
        for stage in dockerfile.stages().values()
        for line in stage.all("COPY")
        for path in line.split()[:-1]
    ]
    assert copied
    for path in copied:
        assert (FOLDER.parent / path).exists(), path
        assert dockerfile.is_visible(path), path
    for path in ("compose/.env", "compose/keys.env", ".git/config", ".venv/x", "tests/a.py"):
        assert not dockerfile.is_visible(path), path
    assert dockerfile.is_visible("services/runtime/data/catalog.toml")
    assert not dockerfile.is_visible("services/runtime/__pycache__/x.pyc")
