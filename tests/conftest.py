"""What more than one test file needs. No test downloads anything: models come from the cache."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from s2s.core.audio import Block, read_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.testing.random_checkpoint import write_checkpoint

SCRIPTS = Path(__file__).parents[1] / "scripts"
DATA = Path(__file__).parent / "data"

settings.register_profile("s2s", derandomize=True, deadline=None)
settings.load_profile("s2s")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-models", action="store_true", help="fail, not skip, where a model is missing"
    )


def pytest_configure() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `models` needs the embedded models, and those named in the mark."""
    marker = item.get_closest_marker("models")
    if marker is None:
        return
    if lacking := missing_models("embedded", *marker.args):
        report = pytest.fail if item.config.getoption("--require-models") else pytest.skip
        report(f"python -m s2s models pull {' '.join(lacking)}")


@lru_cache
def missing_models(*names: str) -> tuple[str, ...]:
    """The models of these names and groups that are not whole in the cache."""
    store = Store()
    return tuple(model.name for model in store.select(names) if store.state(model) != "present")


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a tiny random Qwen3-TTS checkpoint by kind ("0.6b-base", ...), in the
    official layout; written once a session, always with the same bytes. Not to be changed."""

    @lru_cache
    def checkpoint(kind: str) -> Path:
        return write_checkpoint(tmp_path_factory.mktemp("qwen3") / kind, kind)

    return checkpoint


@pytest.fixture(scope="session")
def resources() -> Resources:
    """What a backend is given: the real store, one thread."""
    return Resources(Store(), threads=1)


@pytest.fixture(scope="session")
def librivox() -> dict[str, tuple[Block, str]]:
    """The transcribed recordings of tests/data: name -> (float32 [samples at 16 kHz], words)."""
    rows = (DATA / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in row.split("|")] for row in rows if "librivox_" in row]
    return {
        Path(file).stem: (read_wav(DATA / file, 16_000)[0], words)
        for _, file, _, words, *_ in cells
    }


@pytest.fixture(scope="session")
def wordless() -> dict[str, Block]:
    """Audio at 16 kHz that holds no words, by kind."""
    random = np.random.default_rng(1)

    def noise(level_db: float, seconds: float, *, pink: bool) -> Block:
        spectrum = np.fft.rfft(random.standard_normal(int(seconds * 16_000)))
        if pink:
            spectrum /= np.sqrt(np.arange(len(spectrum)) + 1.0)
        samples = np.fft.irfft(spectrum)
        return (samples / samples.std() * 10 ** (level_db / 20)).astype(np.float32)

    def tone(hertz: float) -> Block:
        return (0.2 * np.sin(2 * np.pi * hertz / 16_000 * np.arange(32_000))).astype(np.float32)

    return {
        "nothing": np.zeros(0, dtype=np.float32),
        "one sample": np.ones(1, dtype=np.float32),
        "50 ms": noise(-20, 0.05, pink=False),
        "silence": np.zeros(32_000, dtype=np.float32),
        "constant": np.full(32_000, 0.5, dtype=np.float32),
        "click": np.pad(np.ones(20, dtype=np.float32), 8_000),
        "hum": tone(50),
        "tone": tone(440),
        "not numbers": np.full(16_000, np.nan, dtype=np.float32),
    } | {
        f"{'pink' if pink else 'white'} noise, {level_db} dB, {seconds} s": noise(
            level_db, seconds, pink=pink
        )
        for level_db in (-50, -35, -20)
        for seconds in (1, 3)
        for pink in (False, True)
    }


class ScriptedServer:
    """A real HTTP server on this machine that answers each request by `script`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        """Path, headers (lower case) and body of each request."""
        self.connections = 0
        self.gone = threading.Event()
        """Set when a client has hung up on a script that waits in `wait_for_client_to_go`."""
        self.script: Callable[[BaseHTTPRequestHandler], None] = lambda _: None
        """Writes the answer."""
        self._ended = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {key.lower(): value for key, value in self.headers.items()}
                server.requests.append((self.path, headers, body))
                server.script(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    @staticmethod
    def send(
        request: BaseHTTPRequestHandler,
        chunks: list[bytes],
        *,
        kind: str = "text/event-stream",
        end: bool = True,
    ) -> None:
        """Answer 200 with `chunks`, each on its own; without `end` the answer stays open."""
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        for chunk in chunks:
            request.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            request.wfile.flush()
        if end:
            request.wfile.write(b"0\r\n\r\n")
            request.wfile.flush()

    def wait_for_client_to_go(self, request: BaseHTTPRequestHandler) -> None:
        """Say nothing until the client hangs up or the test is over."""
        request.connection.settimeout(0.02)
        while not self._ended.is_set():
            try:
                if not request.connection.recv(1):
                    self.gone.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                self.gone.set()
                break
        request.close_connection = True

    def close(self) -> None:
        self._ended.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A local HTTP server whose answers the test scripts."""
    scripted = ScriptedServer()
    yield scripted
    scripted.close()
