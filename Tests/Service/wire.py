"""HTTP and WebSocket bytes as no library would send them."""
import base64
import os
import socket
import struct
from dataclasses import dataclass

# Bounds waiting for what must come.
LIMIT_SECONDS = 60


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes


class Wire:
    """One TCP connection; every wait is bounded."""

    def __init__(self, address, limit=LIMIT_SECONDS):
        self.socket = socket.create_connection(address, timeout=limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def fill(self):
        """False when the peer has closed, politely or not."""
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            return False
        self.buffer += data
        return bool(data)

    def take(self, count):
        while len(self.buffer) < count:
            if not self.fill():
                return None
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def answer(self, head_only=False):
        """The next response; None when the connection was closed instead."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        status = int(lines[0].split()[1])
        length = 0 if head_only or status in (101, 204, 304) else int(headers.get("content-length", 0))
        if "transfer-encoding" in headers and not head_only:
            raise AssertionError("answered in chunks: the tests expect content-length")
        body = self.take(length) if length else b""
        return Answer(status, headers, body)

    def is_closed(self):
        """Waits until the peer closes; False when it does not within the limit."""
        try:
            while self.fill():
                pass
            return True
        except TimeoutError:
            return False


def request(method, path, port, *, token=None, headers=(), body=b"", host=None):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    lines += list(headers)
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(opcode, payload=b"", *, fin=True, rsv=0, masked=True, claimed=None):
    """`claimed`: a length in the header that the payload does not have."""
    length = len(payload) if claimed is None else claimed
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if length < 126:
        head += bytes([mask_bit | length])
    elif length < 65536:
        head += bytes([mask_bit | 126]) + struct.pack(">H", length)
    else:
        head += bytes([mask_bit | 127]) + struct.pack(">Q", length)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


class WireSocket(Wire):
    """A WebSocket by hand."""

    def __init__(self, daemon, token="", limit=LIMIT_SECONDS, headers=()):
        super().__init__(daemon.address, limit)
        key = base64.b64encode(os.urandom(16)).decode()
        self.send(request("GET", "/ws", daemon.port, token=token or daemon.admin, headers=[
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}",
            *headers]))
        self.upgrade = self.answer()

    def frame(self):
        """(opcode, payload) of the next frame; None when the connection was closed."""
        head = self.take(2)
        if head is None:
            return None
        length = head[1] & 0x7F
        assert not head[1] & 0x80, "a server must not mask"
        if length == 126:
            length = struct.unpack(">H", self.take(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.take(8))[0]
        return head[0] & 0x0F, self.take(length) if length else b""

    def close_reason(self):
        """Reads until the peer's close frame: (code, reason); None when it hung up without one."""
        while (received := self.frame()) is not None:
            opcode, payload = received
            if opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                return code, payload[2:].decode()
        return None

    def close_code(self):
        reason = self.close_reason()
        return reason and reason[0]
