"""A TCP proxy before the real service, for what no service does on demand: cutting, stalling, going away."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable

LINGER_NOT = struct.pack("ii", 1, 0)


class Proxy:
    def __init__(self, port: int) -> None:
        self.upstream = port
        self.cuts: list[int] = []
        """For each of the next connections: the bytes of answers after which it is cut."""
        self.cut_uploads: list[int] = []
        """For each of the next connections: the bytes of requests after which it is cut."""
        self.sent = 0
        """How many bytes of answers clients got."""
        self.stalls = 0
        """How many of the next connections never answer."""
        self.change: Callable[[bytes], bytes] = lambda data: data
        """What is done to the bytes of answers."""
        self.received = b""
        """Everything that clients sent."""
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Small, so that a client cannot hand a whole upload to the kernel before the proxy cuts it.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def ranges(self) -> list[str]:
        lines = self.received.decode("latin-1").split("\r\n")
        return [line.split(":", 1)[1].strip() for line in lines if line.lower().startswith("range:")]

    def close(self) -> None:
        self._listener.close()
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            cut = self.cuts.pop(0) if self.cuts else None
            stalls = self.stalls > 0
            self.stalls -= stalls
            server = socket.create_connection(("127.0.0.1", self.upstream))
            self._open += [client, server]
            cut_up = self.cut_uploads.pop(0) if self.cut_uploads else None
            threading.Thread(target=self._up, args=(client, server, cut_up), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client, cut, stalls), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket, cut: int | None) -> None:
        taken = 0
        try:
            while data := client.recv(65536):
                self.received += data
                taken += len(data)
                if cut is not None and taken >= cut:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
                    client.close()
                    server.close()
                    return
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _down(self, server: socket.socket, client: socket.socket, cut: int | None, stalls: bool) -> None:
        sent = 0
        try:
            while data := server.recv(65536):
                if stalls:
                    continue
                data = self.change(data)
                if cut is not None and sent + len(data) >= cut:
                    client.sendall(data[: cut - sent])
                    break
                client.sendall(data)
                sent += len(data)
                self.sent += len(data)
        except OSError:
            pass
        if cut is not None:
            # A reset rather than a polite end, which some answers end with anyway.
            client.shutdown(socket.SHUT_RDWR)
        client.close()
        server.close()
