"""The Python library's WebSocket, reading events as they are meant."""
import json
import time

from websockets.sync.client import connect

# Bounds waiting for what must come.
LIMIT_SECONDS = 60


class Live:
    """`for event in live.until(…)`; every wait is bounded."""

    def __init__(self, daemon, token="", by_subprotocol=False, **options):
        token = token or daemon.admin
        if by_subprotocol:
            options["subprotocols"] = ["events.v1", f"bearer.{token}"]
        else:
            options.setdefault("additional_headers", {})["Authorization"] = f"Bearer {token}"
        self.socket = connect(
            daemon.ws_url, open_timeout=LIMIT_SECONDS, close_timeout=LIMIT_SECONDS, compression=None, proxy=None,
            **options).__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, **message):
        self.socket.send(json.dumps(message))

    def drive(self, left, right):
        """A binary frame: the same bytes as on UDP 5005, stamped by this client's clock."""
        self.socket.send(json.dumps({"left": left, "right": right, "timestamp": time.time()}).encode())

    def drive_taken(self, left, right, echo):
        """Drives and waits for the reply, which comes when the loop has taken it."""
        self.socket.send(json.dumps({"left": left, "right": right, "timestamp": time.time(), "echo": echo}).encode())
        end = time.monotonic() + LIMIT_SECONDS
        while isinstance(data := self.socket.recv(timeout=max(0, end - time.monotonic())), str):
            pass
        reply = json.loads(data)
        assert reply["echo"] == echo, reply
        return reply

    def next(self, limit=LIMIT_SECONDS):
        """The next event; binary frames are skipped."""
        end = time.monotonic() + limit
        while True:
            data = self.socket.recv(timeout=max(0, end - time.monotonic()))
            if isinstance(data, str):
                return json.loads(data)

    def events(self, limit=LIMIT_SECONDS):
        """All that come within the limit."""
        end = time.monotonic() + limit
        while True:
            try:
                yield self.next(max(0, end - time.monotonic()))
            except TimeoutError:
                return

    def wait_for(self, condition, limit=LIMIT_SECONDS):
        seen = []
        for event in self.events(limit):
            seen.append(event)
            if condition(event):
                return event
        raise AssertionError(f"did not come within {limit} s; came: {seen}")
