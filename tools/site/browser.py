"""Headless Chromium, spoken to through a pipe: enough of it to look at the site.

python -m tools.site.browser build/docs/index.html picture.png --width 1280 --dark
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def find() -> str | None:
    return next(
        (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))),
        None,
    )


class Page:
    """One tab, and all that it said: errors and requests."""

    def __init__(self, to_browser: int, from_browser: int):
        self._to, self._from = to_browser, from_browser
        self._count, self._buffer = 0, b""
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._loaded = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        sent = {"id": self._count, "method": method, "params": params}
        if self._session:
            sent["sessionId"] = self._session
        os.write(self._to, json.dumps(sent).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self._count:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']['message']}")
                return got["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        got = json.loads(line)
        self._notice(got.get("method", ""), got.get("params", {}))
        return got

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("text", "") + str(params)[:400])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(str(params["args"])[:400])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded += 1

    def open(self, address: str | Path, wait: float = 20) -> None:
        """Goes to a page and waits until it is there."""
        if isinstance(address, Path):
            address = address.resolve().as_uri()
        before = self._loaded
        self.call("Page.navigate", url=address)
        end = time.monotonic() + wait
        while self._loaded == before and time.monotonic() < end:
            self.run("0")

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        got = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in got:
            raise RuntimeError(str(got["exceptionDetails"])[:500])
        return got["result"].get("value")

    def until(self, script: str, wait: float = 20) -> Any:
        """Asks until the answer is true."""
        end = time.monotonic() + wait
        while not (got := self.run(script)) and time.monotonic() < end:
            time.sleep(0.05)
        return got

    def size(self, width: int, height: int = 900, *, mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def theme(self, name: str) -> None:
        """ "light" or "dark", as the system of the reader would say."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        got = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(got["data"]))


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """A page of a browser that ends with the block."""
    program = find()
    if program is None:
        raise FileNotFoundError("no Chromium: apt-get install chromium")
    options = [
        "--headless=new",
        "--disable-gpu",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--hide-scrollbars",
    ]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    down, to_browser = map(_high, os.pipe())
    from_browser, up = map(_high, os.pipe())
    quiet = [(os.POSIX_SPAWN_OPEN, k, os.devnull, os.O_RDWR, 0) for k in (0, 1, 2)]
    pipes = [(os.POSIX_SPAWN_DUP2, down, 3), (os.POSIX_SPAWN_DUP2, up, 4)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, *options, f"--user-data-dir={folder}", "about:blank"]
        process = os.posix_spawn(program, command, os.environ, file_actions=[*quiet, *pipes])
        os.close(down)
        os.close(up)
        try:
            yield Page(to_browser, from_browser)
        finally:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
            os.close(to_browser)
            os.close(from_browser)


def _high(descriptor: int) -> int:
    """The same pipe at a number that is not one of the browser's."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def main() -> None:
    parser = argparse.ArgumentParser(description="Takes a picture of a page.")
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    with browser() as page:
        page.size(args.width, args.height)
        page.theme("dark" if args.dark else "light")
        page.open(args.page)
        page.run("new Promise(r => setTimeout(r, 600))")
        page.picture(args.picture)
        print("\n".join(page.errors))


if __name__ == "__main__":
    main()
