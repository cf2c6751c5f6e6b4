"""A real server on loopback that says what a test tells it to, byte for byte."""

import json
import socket
import struct
import threading
from contextlib import contextmanager

RESET = "RESET"


def http(status, body, *headers, content_type="application/json", length=None):
    """Give a whole HTTP reply, its bytes as the letters of Latin-1."""
    data = _latin(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False))
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}"]
    lines += [f"Content-Length: {len(data) if length is None else length}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", data])


def events(*items):
    """Give a whole reply of server-sent events."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return head + "".join(f"data: {_latin(text)}\n\n" for text in texts)


def chat(text, *, usage=True):
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
    """Answers each request with the parts that `answer` gives: text, seconds to wait, RESET.

    Attributes:
        requests: what was asked, as dicts of `path`, `headers` and `body`.
        base: the address.
    """

    def __init__(self, answer):
        self.requests = []
        self._answer = answer
        self._stop = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._stop.set()
        self._socket.close()

    def _accept(self):
        while not self._stop.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

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
        body += connection.recv(65536)
    return {"path": first.split()[1], "headers": headers, "body": json.loads(body or b"null")}


@contextmanager
def serving(*parts):
    """Give a server that answers every request with these parts, or with what they call for."""
    answer = parts[0] if parts and callable(parts[0]) else lambda _request: parts
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


def closed_port():
    """Give an address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"
