"""Opens connections that say nothing, and opens each again when it is closed: `flood.py ADDRESS PORT COUNT`, until its input
ends. Says `open` once all have been, and at the end how many there were in all."""
import resource
import selectors
import socket
import sys

# More at a time overflow the kernel's queue, and what it drops there the daemon never sees.
BATCH = 64
BATCH_SECONDS = 0.02


def connect(address, selector):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(address)
    selector.register(client, selectors.EVENT_READ)


def main():
    address, count = (sys.argv[1], int(sys.argv[2])), int(sys.argv[3])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    attempts = 0
    while True:
        if attempts < count:
            for _ in range(BATCH):
                connect(address, selector)
            attempts += BATCH
            if attempts >= count:
                print("open", flush=True)
        for key, _ in selector.select(BATCH_SECONDS if attempts < count else None):
            if key.fileobj is sys.stdin:
                print(attempts, flush=True)
                return
            # Closed, or never let in: again.
            selector.unregister(key.fileobj)
            key.fileobj.close()
            connect(address, selector)
            attempts += 1


main()
