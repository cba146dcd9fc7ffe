from . import datagram, flood, idle, latest, loops, release, release_cost, ring, service, simulated

ALL = {
    "release": release,
    "release-cost": release_cost,
    "simulated": simulated,
    "loops": loops,
    "ring": ring,
    "latest": latest,
    "datagram": datagram,
    "flood": flood,
    "idle": idle,
    "service": service,
}
