from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.panel.server import Lab, PanelServer


@pytest.fixture(scope="session")
def panel_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path_factory.mktemp("panel")).start()
    yield server
    said = "".join(server.output)
    server.stop()
    assert "Traceback" not in said


@pytest.fixture
def panel(panel_process: PanelServer) -> Iterator[PanelServer]:
    """The process all tests share. They part by account; its clock only goes forward."""
    usual = panel_process.shown("switches")
    yield panel_process
    panel_process.control("clear")
    panel_process.control("switches", **usual)


@pytest.fixture
def lab(panel: PanelServer) -> Lab:
    """An account of its own, with plenty of practice money."""
    return panel.lab()
