"""An RTSP viewer over one TCP connection: as little as is needed to come, to look and to go, with or without a word."""
import socket

LIMIT_SECONDS = 60


class Viewer:
    def __init__(self, port):
        self.url = f"rtsp://127.0.0.1:{port}/stream"
        self.sequence = 0
        self.socket = socket.create_connection(("127.0.0.1", port), LIMIT_SECONDS)
        self.socket.settimeout(LIMIT_SECONDS)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        self.play()
        return self

    def __exit__(self, *_):
        self.vanish()

    def ask(self, method, url, **fields):
        """The fields and the body of the answer, which must be 200; pictures that come before it are thrown away."""
        self.sequence += 1
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {self.sequence}", *(f"{key}: {value}" for key, value in fields.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while (first := self.stream.read(1)) == b"$":
            self.stream.read(int.from_bytes(self.stream.read(3)[1:], "big"))
        status = (first + self.stream.readline()).decode().strip()
        answer = {}
        while line := self.stream.readline().decode().strip():
            key, value = line.split(":", 1)
            answer[key.lower()] = value.strip()
        body = self.stream.read(int(answer.get("content-length", 0))).decode()
        assert " 200 " in status, f"{method}: {status}"
        return answer, body

    def play(self):
        """Returns with the first packet."""
        _, body = self.ask("DESCRIBE", self.url, Accept="application/sdp")
        control = [line for line in body.splitlines() if line.startswith("a=control:")][-1].removeprefix("a=control:")
        track = control if control.startswith("rtsp:") else f"{self.url}/{control}"
        answer, _ = self.ask("SETUP", track, Transport="RTP/AVP/TCP;unicast;interleaved=0-1")
        self.session = answer["session"].split(";")[0]
        self.ask("PLAY", self.url, Session=self.session)
        self.packet()

    def packet(self):
        """The next RTP packet; those of RTCP are thrown away."""
        while True:
            head = self.stream.read(4)
            assert len(head) == 4 and head[0] == 0x24, f"no packet but {head!r}"
            packet = self.stream.read(int.from_bytes(head[2:], "big"))
            if head[1] == 0:
                return packet

    def packets(self, count):
        """Returns when as many packets have come."""
        for _ in range(count):
            self.packet()

    def tear_down(self):
        # Its answer stands behind whatever was on its way: not waited for.
        self.sequence += 1
        self.socket.sendall(
            f"TEARDOWN {self.url} RTSP/1.0\r\nCSeq: {self.sequence}\r\nSession: {self.session}\r\n\r\n".encode())
        self.vanish()

    def vanish(self):
        self.stream.close()
        self.socket.close()
