"""A reverse proxy that has a daemon below `/tactus/`, as a small web server has it: HTTP/1.0 or 1.1 towards the daemon, WebSockets only by 1.1.
`when_down` is what it answers while there is no daemon; `outside` are the paths that were asked for elsewhere. While `swallows` is set, WebSockets are accepted
and nothing is passed on, either way."""
import base64
import hashlib
import socket
import threading

ACCEPTED = ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: events.v1\r\n"
            "Sec-WebSocket-Accept: {}\r\n\r\n")
SALT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


class Proxy:
    def __init__(self, daemon, version="1.1", when_down=b""):
        self.host, self.port = daemon.address
        self.version, self.when_down = version, when_down
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.paths = []
        self.outside = []
        self.swallows = False
        self.swallowed = 0

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        """One request of a connection, then what comes either way: a browser opens another for the next."""
        with client:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            fields, rest = head.split(b"\r\n\r\n", 1)
            lines = fields.decode().split("\r\n")
            method, path, _ = lines[0].split(" ")
            self.paths.append(path)
            if not path.startswith("/tactus/"):
                self.outside.append(path)
                client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            is_socket = any(line.lower() == "upgrade: websocket" for line in lines)
            if is_socket and self.version == "1.0":
                client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            if is_socket and self.swallows:
                key = next(line.split(": ")[1] for line in lines if line.lower().startswith("sec-websocket-key:"))
                client.sendall(ACCEPTED.format(base64.b64encode(hashlib.sha1(key.encode() + SALT).digest()).decode()).encode())
                self.swallowed += 1
                self.copy(client, None, True)
                return
            kept = [line for line in lines[1:] if is_socket or not line.lower().startswith("connection:")]
            if not is_socket:
                kept.append("Connection: close")
            path = path.removeprefix("/tactus")
            self.forward(client, f"{method} {path} HTTP/{self.version}", kept, rest, is_socket)

    def forward(self, client, request, fields, rest, is_socket):
        try:
            daemon = socket.create_connection((self.host, self.port))
        except OSError:
            client.sendall(self.when_down)
            return
        with daemon:
            daemon.sendall("\r\n".join([request, *fields, "", ""]).encode() + rest)
            back = threading.Thread(target=self.copy, args=(daemon, client, is_socket), daemon=True)
            back.start()
            self.copy(client, daemon, is_socket, is_socket)
            back.join()

    def copy(self, source, sink, is_socket, ends=True):
        is_swallowed = sink is None
        try:
            while piece := source.recv(65536):
                is_swallowed = is_swallowed or (is_socket and self.swallows)
                if not is_swallowed:
                    sink.sendall(piece)
            if ends and sink:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
