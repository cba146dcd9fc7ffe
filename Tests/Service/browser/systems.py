"""A device system that the daemon does not have: its description, state, answers and events, put between the page and a real daemon."""
import copy
import json

FAN = {
    "name": "fan", "title": "Fan", "summary": "A fan that holds a temperature.", "simulated": True,
    "fields": [
        {"name": "state", "meaning": "What the fan does.", "type": "string",
         "choices": ["off", "running", "stalled", "emergencyStopped"], "unit": "", "nullable": False, "kind": "gauge"},
        {"name": "temperatureCelsius", "meaning": "Temperature of the heat sink; null while unknown.", "type": "number",
         "unit": "°C", "nullable": True, "kind": "gauge"},
        {"name": "targetCelsius", "meaning": "The temperature to hold.", "type": "number", "unit": "°C", "nullable": False,
         "kind": "gauge"},
        {"name": "speedRpm", "meaning": "Speed of the rotor.", "type": "integer", "unit": "rpm", "nullable": True, "kind": "gauge"},
        {"name": "isGuarded", "meaning": "Whether the grille is on.", "type": "boolean", "unit": "", "nullable": False,
         "kind": "gauge"},
        {"name": "failures", "meaning": "Failed readings since the start.", "type": "integer", "unit": "", "nullable": False,
         "kind": "counter"},
    ],
    "commands": [
        {"name": "set", "meaning": "Holds a temperature.", "scope": "control", "makesSafe": False, "parameters": [
            {"name": "targetCelsius", "meaning": "Temperature to hold.", "type": "number", "minimum": 20, "maximum": 80,
             "unit": "°C"}]},
        {"name": "blow", "meaning": "Turns the fan for a while.", "scope": "control", "makesSafe": False, "parameters": [
            {"name": "direction", "meaning": "Where the air goes.", "type": "string", "choices": ["out", "fromBelow"], "unit": ""},
            {"name": "periodSeconds", "meaning": "How long.", "type": "integer", "minimum": 1, "unit": "s"},
            {"name": "quiet", "meaning": "At half the speed.", "type": "boolean", "unit": ""}]},
        {"name": "off", "meaning": "Turns the fan off.", "scope": "control", "makesSafe": True, "parameters": []},
        {"name": "clear", "meaning": "Forgets the failures.", "scope": "admin", "makesSafe": False, "parameters": []},
    ],
    "settings": [
        {"name": "gain", "meaning": "Duty for each degree above the target.", "type": "number", "minimum": 0.1, "maximum": 100,
         "unit": "%/°C", "value": 10, "standard": 10, "mayChange": True},
        {"name": "leastPercent", "meaning": "Duty below which the motor does not start.", "type": "integer", "minimum": 10,
         "maximum": 100, "unit": "%", "value": 25, "standard": 20, "mayChange": True},
        {"name": "output", "meaning": "The PWM output.", "type": "string", "unit": "", "value": "pwmchip0/0", "standard": None,
         "mayChange": False},
    ],
    "faults": [{"name": "stall", "meaning": "The rotor is held.", "active": False},
               {"name": "open-sensor", "meaning": "The thermistor's wire is broken.", "active": False}],
}
STALLED = "the fan is powered and does not turn; free it, then reset"


class Fan:
    """`attach(page)` puts it in place; then `tell()` is an event of its state, `notice()` one of what has happened. `requests` are the
    page's: path and body. `refusal` is the answer to the next command, `holds_back` keeps answers until `answer()`."""

    def __init__(self, **description):
        self.system = {**copy.deepcopy(FAN), **description}
        self.name = self.system["name"]
        self.state = {"state": "off", "temperatureCelsius": 31.26, "targetCelsius": 45, "speedRpm": 0, "isGuarded": True, "failures": 0}
        self.requests, self.refusal, self.sockets, self.waiting = [], None, [], []
        self.holds_back, self.seconds = False, 0

    def attach(self, page):
        page.route("**/api/systems", lambda route: route.fulfill(json={"ok": True, "systems": [self.system]}))
        page.route(f"**/api/{self.name}/*", self.command)
        page.route("**/api/sim/fault", self.command)
        page.route_web_socket("**/ws", self.open)

    def open(self, socket):
        socket.connect_to_server()
        self.sockets.append(socket)

    def command(self, route):
        self.requests.append((route.request.url.split("/api/")[1], route.request.post_data_json))
        if self.holds_back:
            self.waiting.append(route)
        else:
            self.fulfill(route)

    def fulfill(self, route):
        if self.refusal:
            route.fulfill(status=409, json={"ok": False, **self.refusal})
            self.refusal = None
        else:
            route.fulfill(json={"ok": True})

    def answer(self):
        while self.waiting:
            self.fulfill(self.waiting.pop(0))

    def send(self, kind, members):
        event = {"type": kind, "system": self.name, "seq": 1, "monotonicNs": int(self.seconds * 1e9), **members}
        self.sockets[-1].send(json.dumps(event))

    def tell(self, seconds=1, **changes):
        """`seconds` after the last one."""
        self.seconds += seconds
        self.state.update(changes)
        self.send(self.name, self.state)

    def notice(self, word, trouble, message):
        self.send(self.name + ".notice", {"notice": word, "trouble": trouble, "message": message})
