"""Who is there: connections of our own between the processes of a program.

Process 0 listens; every other process keeps one connection to it, on which both say that they are
alive ten times in a heartbeat's timeout. A process that is killed or ends closes its connection, one
that is stopped or cut off falls silent, and process 0 tells the others of both. jaxlib's client would
abort its process as soon as process 0 is gone, so it speaks to process 0 by way of a `Relay`.
"""

from __future__ import annotations

import abc
import contextlib
import json
import selectors
import socket
import threading
import time
from typing import Any, cast

_BEATS = 10  # in a heartbeat's timeout


class Presence(abc.ABC):
    """What a process knows of the others.

    Attributes:
        gone: processes that ended without a goodbye, or have fallen silent.
        left: processes that have said goodbye.
    """

    def __init__(self, process_id: int, timeout: float) -> None:
        self.process_id, self.timeout = process_id, timeout
        self.gone: set[int] = set()
        self.left: set[int] = set()
        self._stop = False
        self._thread = threading.Thread(target=self._run, name="xcore-presence", daemon=True)

    @abc.abstractmethod
    def say_goodbye(self) -> None:
        """Tell the others that this process is about to end, and needs none of them."""

    def close(self) -> None:
        """End the thread."""
        self._stop = True
        self._thread.join(self.timeout / _BEATS + 1)

    @abc.abstractmethod
    def _run(self) -> None:
        """What the thread does until it is stopped."""


class Host(Presence):
    """Process 0, to which the others report."""

    def __init__(self, timeout: float) -> None:
        super().__init__(0, timeout)
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        self._listener = socket.create_server(
            ("", 0), family=family, backlog=1024, dualstack_ipv6=both
        )
        self.port = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        # connection -> [process, when it was heard last, what is not a line yet]
        self._heard: dict[socket.socket, list[Any]] = {}
        self._thread.start()

    def say_goodbye(self) -> None:
        self.left.add(0)

    def is_connected(self) -> bool:
        """Whether another process is there still."""
        return bool(self._heard)

    def _run(self) -> None:
        last_sent, due = "", 0.0
        while not self._stop:
            for key, _ in self._selector.select(self.timeout / _BEATS / 2):
                self._accept() if key.fileobj is self._listener else self._read(
                    cast("socket.socket", key.fileobj)
                )
            now = time.monotonic()
            for connection, (_, heard, _) in list(self._heard.items()):
                if now - heard > self.timeout:
                    self._drop(connection)
            news = json.dumps([sorted(self.gone), sorted(self.left)])
            if news != last_sent or now >= due:
                last_sent, due = news, now + self.timeout / _BEATS
                for connection in list(self._heard):
                    _send(connection, news)
        for connection in self._heard:
            connection.close()
        self._listener.close()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        connection.setblocking(False)
        self._heard[connection] = [None, time.monotonic(), b""]
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self._drop(connection)
        state = self._heard[connection]
        *lines, state[2] = (state[2] + data).split(b"\n")
        state[1] = time.monotonic()
        for line in lines:
            word, _, number = line.decode().partition(" ")
            state[0] = int(number)
            if word == "left":
                self.left.add(state[0])
        return None

    def _drop(self, connection: socket.socket) -> None:
        process = self._heard.pop(connection)[0]
        self._selector.unregister(connection)
        connection.close()
        if process is not None and process not in self.left:
            self.gone.add(process)


class Guest(Presence):
    """Any other process. It hears of the others from process 0."""

    def __init__(self, process_id: int, timeout: float, host: str, port: int) -> None:
        super().__init__(process_id, timeout)
        self._connection = socket.create_connection((host, port), timeout)
        _send(self._connection, f"here {process_id}")
        self._connection.settimeout(timeout / _BEATS)
        self._thread.start()

    def say_goodbye(self) -> None:
        _send(self._connection, f"left {self.process_id}")

    def _run(self) -> None:
        heard, rest = time.monotonic(), b""
        while not self._stop:
            try:
                data = self._connection.recv(4096)
                if not data:
                    break
                heard = time.monotonic()
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    gone, left = json.loads(line)
                    self.gone.update(set(gone) - {self.process_id})
                    self.left.update(left)
            except TimeoutError:
                if time.monotonic() - heard > self.timeout:
                    break
            except OSError:
                break
            _send(self._connection, f"here {self.process_id}")
        if not self._stop and 0 not in self.left:
            self.gone.add(0)
        self._connection.close()


def _send(connection: socket.socket, line: str) -> None:
    with contextlib.suppress(OSError):  # whoever reads there finds out
        connection.sendall(line.encode() + b"\n")


class Relay:
    """Passes on what a client in this process says to a server, and outlives the server.

    When the server goes away the client's connection stays open, silent.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.holds = False  # whether the client's connections stay open without the server
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._accept, name="xcore-relay", daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            try:
                far = socket.create_connection(self._server, 10)
            except OSError:
                near.close()
                continue
            for s in near, far:
                s.settimeout(None)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in (near, far), (far, near):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        if self.holds:
            self._kept += source, target
        else:
            for s in source, target:
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_RDWR)
