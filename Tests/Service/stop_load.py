"""Clients beside which a stop must come in: `stop_load.py ADDRESS PORT KIND COUNT [TOKEN]`, until its input ends. Says `open` once every
client has been answered once or was let go, and at the end how many answers there were."""
import os
import resource
import selectors
import socket
import sys

from wire import TEXT, frame, request

# 5,780 names that no message has, in 65 kB.
NAMES = ('{"type":"ping",' + ",".join(f'"x{number}":0' for number in range(5780)) + "}").encode()
PIPELINED = 20
HANDSHAKE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")


def asked(kind, port, token):
    """What a client sends first, and again for each answer; and how many of the latter it keeps under way."""
    read = lambda path, token=token: request("GET", path, port, token=token)
    match kind:
        case "health":
            return b"", read("/api/health", None), PIPELINED
        case "query":
            return b"", read("/api/health?" + "a=b&" * 1900, None), 1
        case "metrics":
            return b"", read("/metrics"), 1
        case "schedules":
            return b"", read("/api/schedules"), 1
        case "preview":
            return b"", read("/api/schedules/preview?count=1000"), 1
        case "messages":
            return request("GET", "/ws", port, token=token, headers=HANDSHAKE), frame(TEXT, NAMES), 1
        case "listen":
            return request("GET", "/ws", port, token=token, headers=HANDSHAKE), b"", 0
    raise SystemExit(f"no such kind: {kind}")


class Client:
    def __init__(self, address, first, again, pipelined):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(address)
        self.unsent = first + again * pipelined
        self.again = again
        # An answer of these kinds has this once.
        self.mark = b"HTTP/1.1 " if not first else b'"type":"'
        self.rest = b""

    def write(self):
        try:
            sent = self.socket.send(self.unsent)
        except BlockingIOError:
            return
        self.unsent = self.unsent[sent:]

    def read(self):
        """How many answers have begun to come, or None if the connection has ended."""
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return 0
        if not data:
            return None
        text = self.rest + data
        # What may be the beginning of a mark is looked at again.
        self.rest = text[-(len(self.mark) - 1):]
        count = text.count(self.mark)
        self.unsent += self.again * count
        return count


def main():
    address, kind, count = (sys.argv[1], int(sys.argv[2])), sys.argv[3], int(sys.argv[4])
    what = asked(kind, address[1], sys.argv[5] if len(sys.argv) > 5 else None)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)

    def connect():
        client = Client(address, *what)
        selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)

    for _ in range(count):
        connect()
    answers, served, told = 0, set(), False
    while True:
        for key, events in selector.select():
            client = key.data
            if client is None:
                print(answers, flush=True)
                os._exit(0)
            found = None
            try:
                if events & selectors.EVENT_WRITE and client.unsent:
                    client.write()
                found = client.read() if events & selectors.EVENT_READ else 0
            except OSError:
                pass
            if found is None:
                selector.unregister(client.socket)
                client.socket.close()
                served.add(id(client))
                connect()
            else:
                answers += found
                if found:
                    served.add(id(client))
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
                if wanted != key.events:
                    selector.modify(client.socket, wanted, client)
        if not told and len(served) >= count:
            told = True
            print("open", flush=True)


main()
