"""A real HTTP server on loopback that sends exactly the bytes that a test specifies."""

import json
import socket
import struct
import threading
from contextlib import contextmanager

RESET = "RESET"


def http(status, body, *headers, content_type="application/json", length=None):
    """Return a complete HTTP response, its bytes as Latin-1 characters."""
    data = _latin(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False))
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}"]
    lines += [f"Content-Length: {len(data) if length is None else length}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", data])


def events(*items):
    """Return a complete response of server-sent events."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return head + "".join(f"data: {_latin(text)}\n\n" for text in texts)


def chat(text, *, usage=True):
    """Return a chat completion."""
    counts = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        **({"usage": counts} if usage else {}),
    }


def _latin(text):
    return text.encode().decode("latin-1")


class Server:
    """Responds to each request with the parts that `answer` returns: text, a wait, or `RESET`.

    Waits are in seconds; `RESET` resets the connection.

    Attributes:
        requests: the requests received, as dicts of `path`, `headers` and `body`.
        base: base URL of the server.
    """

    def __init__(self, answer):
        self.requests = []
        self._answer = answer
        self._stop = threading.Event()
        self._serving = []
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def close(self):
        self._stop.set()
        # Closing a socket does not end an `accept` that waits for it: that thread would take a
        # connection of a later server with the same descriptor.
        socket.create_connection(self._socket.getsockname()).close()
        self._acceptor.join()
        self._socket.close()

    def settle(self):
        """Wait until every connection is closed."""
        for thread in self._serving:
            thread.join()

    def _accept(self):
        while True:
            connection, _ = self._socket.accept()
            if self._stop.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._serving.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection:
            try:
                request = _read(connection)
                if request is None:
                    return
                self.requests.append(request)
                for part in self._answer(request):
                    self._send(connection, part)
            except OSError:
                pass

    def _send(self, connection, part):
        if part == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        elif isinstance(part, str):
            connection.sendall(part.encode("latin-1"))
        else:
            self._stop.wait(part)


def _read(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return {"path": first.split()[1], "headers": headers, "body": json.loads(body or b"null")}


@contextmanager
def serving(*parts):
    """Run a server that responds to every request with these parts, or those of a callable."""
    answer = parts[0] if parts and callable(parts[0]) else lambda _request: parts
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


_closed = socket.socket()
_closed.bind(("127.0.0.1", 0))


def closed_port():
    """Return the base URL of a port on which nothing listens; it stays bound, so nothing will."""
    return f"http://127.0.0.1:{_closed.getsockname()[1]}"
