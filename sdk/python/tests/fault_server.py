"""A TCP server that plays a script of replies and faults, like tests/support/fault-server.ts."""

from __future__ import annotations

import json
import socket
import struct
import threading
from email.parser import Parser
from http.client import HTTPMessage
from typing import Any

Reply = dict[str, Any]
PARTIAL = {
    "stall": b"HTTP/1.1 200 Scripted\r\nContent-Length: 100\r\n\r\n{\"id\":",
    "cut": b"HTTP/1.1 200 Scripted\r\nContent-Length: 100\r\n\r\n{\"id\":",
    "cutChunks": b"HTTP/1.1 200 Scripted\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n",
    "silent": b"",
    "drop": b"",
}


class FaultServer:
    """Replies once per connection. After the end of the script, it repeats the last reply."""

    def __init__(self, script: list[Reply]) -> None:
        self.script = script
        self.requests: list[tuple[str, str, HTTPMessage, str]] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open: list[socket.socket] = []
        self.thread = threading.Thread(target=self.accept)

    def __enter__(self) -> FaultServer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing a listening socket does not wake its thread, but a shutdown does.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for each in [self.listener, *self.open]:
            each.close()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(client)
            if (request := read_request(client)) is not None:
                reply = self.script[min(len(self.requests), len(self.script) - 1)]
                self.requests.append(request)
                send(client, reply)


def read_request(client: socket.socket) -> tuple[str, str, HTTPMessage, str] | None:
    text = b""
    while b"\r\n\r\n" not in text:
        if not (part := client.recv(65536)):
            return None
        text += part
    head, body = text.split(b"\r\n\r\n", 1)
    line, _, fields = head.decode().partition("\r\n")
    headers = Parser(HTTPMessage).parsestr(fields)
    while len(body) < int(headers["Content-Length"] or 0):
        body += client.recv(65536)
    method, path, _ = line.split(" ")
    return method, path, headers, body.decode()


def send(client: socket.socket, reply: Reply) -> None:
    fault = reply.get("fault")
    if fault is None:
        client.sendall(response(reply))
    else:
        client.sendall(PARTIAL[fault])
    if fault == "drop":
        # Without lingering, closing the connection resets it.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    keeps = reply.get("headers", {}).get("Connection") == "keep-alive"
    if fault not in ("silent", "stall") and not keeps:
        client.close()


def response(reply: Reply) -> bytes:
    is_json = "json" in reply
    body = (json.dumps(reply["json"]) if is_json else reply.get("text", "")).encode()
    headers = {"Content-Type": "application/json"} if is_json else {}
    if reply["status"] != 204:
        headers["Content-Length"] = str(len(body))
    headers.update({"Connection": "close", **reply.get("headers", {})})
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply['status']} Scripted\r\n{lines}\r\n".encode() + body
