"""A robot driven with roslibpy, as a program of ROS users does it. Its reactor can be started once in a process, so it is a program of its own:
`rosbridge_client.py URL TOKEN` drives a curve for a second, or until it has gone some way, and prints what came on /odom and /diagnostics as JSON."""
import json
import math
import sys
import threading
import time

import roslibpy

url, token = sys.argv[1:]
ros = roslibpy.Ros(host=url, headers={"Authorization": f"Bearer {token}"})
ros.run(timeout=60)
began = time.monotonic()
came, both = {"/odom": [], "/diagnostics": []}, threading.Event()


def note(topic):
    def note_message(message):
        came[topic].append(message)
        if all(came.values()):
            both.set()
    return note_message


odometry = roslibpy.Topic(ros, "/odom", "nav_msgs/Odometry", throttle_rate=100, queue_length=5)
odometry.subscribe(note("/odom"))
diagnostics = roslibpy.Topic(ros, "/diagnostics", "diagnostic_msgs/DiagnosticArray")
diagnostics.subscribe(note("/diagnostics"))
velocity = roslibpy.Topic(ros, "/cmd_vel", "geometry_msgs/Twist")
velocity.advertise()
start = time.monotonic()


def moved():
    """How far apart the first and the last position on /odom are, in metres."""
    positions = [message["pose"]["pose"]["position"] for message in came["/odom"]]
    return math.dist(*((at["x"], at["y"]) for at in (positions[0], positions[-1]))) if positions else 0


# For a second and more; on a machine that is busy until it has gone some way.
while time.monotonic() < start + 1 or not both.is_set() or moved() < 0.06:
    assert time.monotonic() < start + 60, came
    velocity.publish(roslibpy.Message({"linear": {"x": 0.2, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.5}}))
    time.sleep(0.05)
velocity.publish(roslibpy.Message({"linear": {"x": 0.0, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.0}}))
failures = []
answered = threading.Event()


def failed(reason):
    failures.append(str(reason))
    answered.set()


roslibpy.Service(ros, "/rosapi/topics", "rosapi/Topics").call(roslibpy.ServiceRequest(), lambda values: failed(values), failed)
assert answered.wait(60)
odometry.unsubscribe()
velocity.unadvertise()
ros.terminate()
print(json.dumps({"seconds": time.monotonic() - began, "odom": came["/odom"], "diagnostics": came["/diagnostics"], "service": failures}))
