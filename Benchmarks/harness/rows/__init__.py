from . import (
    datagram, flood, idle, latest, leg_deadman, leg_keepalive, leg_update, loops, plants, release, release_cost, ring, service,
    simulated, sprinkler)

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
    "sprinkler": sprinkler,
    "plants": plants,
    "leg-update": leg_update,
    "leg-deadman": leg_deadman,
    "leg-keepalive": leg_keepalive,
}
