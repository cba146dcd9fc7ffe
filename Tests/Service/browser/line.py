"""A TCP line to a daemon that passes every byte, until it is cut without a word to either end: no FIN and no RST, as when a cable is pulled, a telephone leaves the
network, or the machine at the other end loses its power. Each end has a connection then that looks open, with nobody behind it; a new one is accepted and never answered."""
import socket
import threading

TO, FROM = "to", "from"  # the daemon


class Line:
    """`cut(…)` lets nothing pass any more, to the daemon, from it, or both ways; `cut_at`, if it is set, does so before the first bytes to the daemon that have it
    in them. `mend()` passes on what was held back, as TCP does after an outage; `mend(loses=True)` loses the connections of before for good, as the end of a machine
    that was started again, and passes new ones."""

    def __init__(self, daemon):
        self.admin, self.target = daemon.admin, daemon.address
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.passes = {way: threading.Event() for way in (TO, FROM)}
        self.cut_at = None
        self.ends = []  # of every connection, two each
        self.lost = 0  # so many of the first are
        self.mend()

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.mend(loses=True)
        for one in self.ends:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, *ways):
        for way in ways or (TO, FROM):
            self.passes[way].clear()

    def mend(self, loses=False):
        if loses:
            self.lost = len(self.ends)
        for one in self.passes.values():
            one.set()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                daemon = socket.create_connection(self.target)
            except OSError:
                return
            number = len(self.ends)
            self.ends += [client, daemon]
            for way, source, sink in ((TO, client, daemon), (FROM, daemon, client)):
                threading.Thread(target=self.copy, args=(number, way, source, sink), daemon=True).start()

    def copy(self, number, way, source, sink):
        try:
            while piece := source.recv(65536):
                if way == TO and self.cut_at and self.cut_at in piece:
                    self.cut_at = None
                    self.cut()
                self.passes[way].wait()
                if number >= self.lost:
                    sink.sendall(piece)
            self.passes[way].wait()
            if number >= self.lost:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
