from . import (
    age, datagram, flood, guard, idle, latest, leg_deadman, leg_keepalive, leg_update, loops, outage, pid, plants,
    recorder, release, release_cost, release_virtual, ring, service, simulated, sprinkler, video, wake_up)

ALL = {
    "release": release,
    "release-cost": release_cost,
    "release-virtual": release_virtual,
    "wake-up": wake_up,
    "outage": outage,
    "age": age,
    "simulated": simulated,
    "recorder": recorder,
    "loops": loops,
    "ring": ring,
    "latest": latest,
    "pid": pid,
    "datagram": datagram,
    "flood": flood,
    "guard": guard,
    "idle": idle,
    "service": service,
    "sprinkler": sprinkler,
    "plants": plants,
    "video": video,
    "leg-update": leg_update,
    "leg-deadman": leg_deadman,
    "leg-keepalive": leg_keepalive,
}
