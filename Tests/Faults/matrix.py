"""The fault matrix, as data: which faults, which systems, which mechanisms, and one cell for each pair.

A cell says what happens *today*. Its verdict is `SAFE`, `SAFE_IF` (its text: the condition, and what happens otherwise), `UNSAFE` (its text: what
is not safe) or `NOT_APPLICABLE` (its text: because …). It is shown by a scenario in simulated time, a process that is killed, stopped or starved (processes.py), or a test that is named.
`scripts/faults` runs them and writes docs/safety.md from this file; a pair without a cell fails.
"""
from dataclasses import dataclass, field

SAFE, SAFE_IF, UNSAFE, NOT_APPLICABLE = "safe", "safe if", "not safe", "does not apply"


@dataclass
class Scenario:
    """A file in scenarios/ whose expectations are met. The time to the safe state lies between the first lines of its timeline that
    match `begin` and, later, `end`, and is at most `bound_ms` of simulated time."""
    name: str
    begin: str = ""
    end: str = ""
    bound_ms: float = 0


@dataclass
class Process:
    """A function of processes.py, after which the output is off. `scripts/faults --real-time` asks that it is at most `bound_ms` after the fault;
    what was measured stands in recorded.json. `again`: it comes on again by itself. `notes`: what else must come of it."""
    name: str
    bound_ms: float = 0
    again: bool = False
    notes: dict = field(default_factory=dict)


@dataclass
class Test:
    """A test by its title in Swift Testing, by FILE::FUNCTION of pytest, or by FILE::WORDS of a script's check. Another stage of scripts/test
    runs it."""
    name: str


@dataclass
class Cell:
    system: str
    fault: str
    verdict: str
    # The promise about time, the mechanisms that act, who is told, and what is lost.
    promise: str = ""
    acts: tuple = ()
    told: str = ""
    lost: str = ""
    text: str = ""
    shown: tuple = ()


# Each system with the sections of the configuration that are its own.
SYSTEMS = {
    "robot": ("motors",),
    "leg": ("leg", "legs"),
    "sprinkler": ("sprinkler",),
    "pump": ("pump",),
    "plants": ("plants",),
    "video": ("camera", "video"),
}
# Sections that every program has: no system's.
GENERAL = ("network", "service", "store", "mqtt", "notify", "safety", "runtime", "logging", "performance")

FAULTS = {
    "kill": ("kill −9", "The daemon is killed without a word: `kill -9`, a crash, the kernel that needs memory."),
    "stop": ("SIGSTOP, SIGCONT", "The daemon is stopped for longer than the guard's time-out, then goes on."),
    "guard-killed": ("the guard is killed", "… and then the daemon."),
    "guard-hangs": ("the guard hangs", "The guard is stopped, and then the daemon is killed."),
    "both": ("both killed", "Daemon and guard are killed at once."),
    "lane": ("lane stall", "The system's thread gets no processor for a while."),
    "tick": ("tick that hangs", "A tick does not come back, as when a driver of the kernel hangs."),
    "nak": ("bus NAK", "The chip does not acknowledge."),
    "bus": ("bus stuck", "A chip holds the bus."),
    "line": ("line stuck", "An output line does not become what it is told to be, or a serial line takes nothing."),
    "sensor": ("sensor open, short", "A sensor's wire is broken or shorted."),
    "link": ("link loss", "Nothing comes from the operator any more."),
    "loss": ("packet loss", "Some of the commands are lost."),
    "delay": ("delay", "Commands come late."),
    "doubling": ("doubling", "Commands come twice."),
    "overtaking": ("overtaking", "Commands come in another order."),
    "clock": ("clock ± 1 h", "The wall clock, here or at the operator, is set by an hour."),
    "full": ("disk full", "No byte more can be written."),
    "read-only": ("disk read-only", "The store's file system is read-only, or away."),
    "slow": ("disk slow", "Writes to the disk take many seconds."),
    "corrupt": ("disk corrupt", "Bytes of the store are others than were written."),
    "descriptors": ("no descriptors", "The daemon can open nothing more."),
    "memory": ("no memory", "The daemon gets no further memory."),
    "crash-loop": ("crash loop", "The daemon dies again and again, and is started again each time."),
    "welded": ("welded relay", "A switch conducts whatever its input says."),
    "replay": ("replayed datagrams", "Somebody sends recorded commands again."),
    "squatter": ("a control squatter", "Somebody else holds connections or control."),
    "broker": ("broker gone", "The MQTT broker ends."),
    "camera": ("camera gone", "The camera is pulled out, or its process hangs."),
    "reload": ("bad file on reload", "`tactus reload` with a configuration that is wrong."),
    "two": ("two daemons", "A second daemon is started for the same hardware."),
}

# A name, what it does in one sentence, and the tests that show it.
MECHANISMS = {
    "guard": (
        "A second process writes every output's safe state when the daemon dies, hangs or sends heartbeats that cannot be.",
        ("driving, kill -9: the guard writes both neutral frames",
         "watching: the socket closes without a dismissal, the safe state is written, then it ends")),
    "heartbeat": (
        "Heartbeats are numbered, stamped and carry which loops advance; late, early, repeated or out of order they are a fault. "
        "The first is due within the time-out from the start of the loops on, which the daemon tells; that may take 10 s.",
        ("watching: a wake-up before the time-out does nothing, at the time-out the safe state is written and held",
         "a loop does not advance: written at the time-out from its last advance, though heartbeats come; it advances: watching again",
         "repeated: the number of the one before: a fault")),
    "replacement": (
        "A guard that dies or does not answer is killed and replaced, and its replacement is told of.",
        ("the guard is killed: another takes over, and does its duty", "the guard hangs: it is killed, another takes over, and does its duty",
         "test_guard.py::test_a_guard_that_hangs_is_told_of_killed_and_replaced_while_everything_else_goes_on")),
    "no guard, no output": (
        "Where no other guard can be had every output stops, and stays so until there is one and somebody resets.",
        ("no successor can be started: outputs safe at once and at every beat, the next start after a second, until one is ready",
         "test_guard.py::test_no_other_guard_can_be_had_every_output_stops_until_there_is_one_and_somebody_resets")),
    "hardware watchdog": (
        "If one is configured, the guard feeds it while all is well or all is confirmed to be safe; otherwise the board is reset.",
        ("a safe state that is not confirmed: not fed; confirmed: fed at once",
         "dismissed, or gone with a confirmed safe state: disarmed; given up: left counting; nothing after that")),
    "stop hook": (
        "When the service has ended systemd writes the safe state from the plan in /run, whatever ended it.",
        ("the daemon leaves its plan before it touches the motors; the hook makes it though the file is broken since",
         "packaging/checks::its stop hook has used the plan")),
    "failsafe": (
        "A robot whose controller is silent for a second is stopped, by the loop, at that instant.",
        ("failsafe: released at its deadline, the stop is on the bus at that instant",
         "driving: silence for the failsafe timeout stops, to the nanosecond")),
    "stop within": (
        "A robot that watches the distance ahead drives forward only while that is known and not too small.",
        ("the distance is not known, from the start or since: no forward motion, and it is said as such",
         "a wall ahead: the robot stands before it, says why and how to go on, and backs away")),
    "mount halt": (
        "A robot's camera mount stays where it is in an emergency stop, in a fault and after a stop from outside: a servo holds its position, and nothing more is written to it.",
        ("emergency stop and fault: the mount stays where it was last told to be, and look, height and balance are refused",
         "emergency stop while the mount turns: no angle is written from that release on, nor after a reset",
         "fault and missed releases: the mount stays, a beep ends")),
    "beep end": (
        "A robot's buzzer, which its board never ends, is told to be silent after its time, at the start, at the end and by the guard.",
        ("beep: on for its time and no longer, off at the end of the program, however long it was to sound",
         "raspbot-v2: all four motors at zero, and the buzzer, which the board never ends, silent")),
    "deadman": (
        "A leg's pulse ends 200 ms after the last command that feeds it.",
        ("deadman: released at its deadline, the off is on the bus at that instant",
         "armed: silence for 200 ms cuts the pulse, to the nanosecond")),
    "valve deadline": (
        "Every open valve has a deadline of its own that closes it; nobody has to say so.",
        ("silence: nobody asks anything any more, the valve closes at its deadline",)),
    "run limit": (
        "A pump pumps no longer than its limit between two rests, over any number of starts, deaths and restarts.",
        ("run limit: 30 min of pumping over offs and ONs, then OFF until confirmed, then 5 min of rest",
         "100 random histories of ON, OFF, deaths and power cuts: the pump never pumps longer than its limit between two rests")),
    "silence limit": (
        "As the device, if so configured, a pump that no command has come to stops.",
        ("silence limit: a pump that no command has come to stops, at that nanosecond",)),
    "missed releases": (
        "A loop that misses so many releases in a row enters its safe state, and stays in it until a reset.",
        ("missed releases: the motors stop, the fault names the count", "missed releases: every leg in fault by one transfer, with the count",
         "missed releases: every line off, a fault with the count", "missed releases: off, until a reset")),
    "off until confirmed": (
        "An off is written again and again until the hardware has taken it, and nobody is told that it is off before.",
        ("stopped: the stop is written at every tick, confirmed or not", "write failed: fault, error 3, the off at every tick until confirmed",
         "fault: the lines fail; every run ends, the off is tried at every tick until it is taken, then a reset leaves it",
         "OFF: overtakes what waits and what is in flight, and is repeated every second until confirmed")),
    "latch": (
        "A fault and an emergency stop are left by a reset and by nothing else.",
        ("emergency stop: latched; a stick held anywhere refuses the reset until it has been at rest for the failsafe",
         "emergency stop: every leg off by one transfer, latched; reset leaves it",
         "emergency stop: every line off in the release that brings it, the queue gone, latched; reset leaves it",
         "e-stop: OFF at once, latched against everything but a reset of a confirmed off; a pump that runs again is off again")),
    "latch over restarts": (
        "An emergency stop outlives the program: the next one starts stopped, until a reset. A robot's stick that is held through a death must "
        "come to zero first.",
        ("e-stop, then kill −9 or SIGTERM: it holds in the next program, until a reset; after that nothing is left of it",
         "started after a death: a stick that is held drives no motor, a zero of its own frees it")),
    "output enable": (
        "A line of its own, if one is wired, ends every servo's pulse without the bus.",
        ("bus stuck while driving: the output-enable line ends the pulse at the next transfer, which the chip never gets",)),
    "read back": (
        "What was written is read: a chip that lost its power and a line that stays on are noticed.",
        ("chip without power for a moment: noticed within 200 ms, fault, configured anew",
         "a relay line that stays on: told again twice within 200 ms, then a fault that closes the master valve")),
    "flow": (
        "A flow sensor, if there is one, tells a valve that does not close, a burst pipe, and water that does not come.",
        ("a valve that does not close: a leak within two minutes; a reset does not hide it",
         "no flow for 30 s while a valve is open: a fault that names the zone")),
    "plausibility": (
        "A temperature that cannot be believed is a fault that turns the pump off.",
        ("fault: a sensor open or shorted stops the pump within 2 s of its reading; the operator side knows",)),
    "staleness": (
        "What waited too long inside the daemon, or in a socket or line while the daemon was frozen, is not obeyed, unless it makes safe; a reading that is old is none.",
        ("stalled lane: a drive that waited longer than 250 ms never reaches the motors, one that did not does",
         "request that waited longer than 150 ms: an arm, a pulse and a reset are stale, a disarm and an e-stop are obeyed",
         "a request that opens and waited longer than 2 s is stale; one that closes is obeyed",
         "frozen program: a datagram that lay in the socket for the failsafe's time drives no more and resets nothing, a younger one does, and a stop is obeyed",
         "sensor data: a stale reading is none, a sensor without a thermometer has no temperature, nothing fresh is an error")),
    "order of commands": (
        "Older and repeated datagrams do nothing, and a clock that was set is followed only by way of zero.",
        ("driving: older and repeated timestamps do nothing and do not feed the failsafe",
         "driving: a stamp out of place does nothing; a clock that was set is followed, bursts and replays never are")),
    "ownership": (
        "One source controls a robot until it has been silent for a second; anyone may stop it.",
        ("driving: another source's command is ignored, the first source keeps control",
         "driving: someone else stops, the motors stop at once and the controller must let go before it drives on")),
    "places for stopping": (
        "Connections, descriptors and command slots are kept free for those who may stop.",
        ("test_lockout.py::test_e_stops_beside_hundreds_of_connections_that_say_nothing",
         "places for stopping: an eighth, one at least, and none of a single connection")),
    "monotonic clock": (
        "Loops know one clock, which nobody can set; the wall clock decides on which day a program starts and nothing else.",
        ("nothing outside the runtime reads a clock or sleeps but the client's clock; nothing at all but it and the log's time stamp asks for the date",
         "the monotonic clock never goes back and is the clock of the ticks")),
    "store": (
        "One file, checked when it is opened, with snapshots; no loop waits for it; what it refuses is refused to who asked.",
        ("300 kills while it writes, snapshots and prunes: the file is sound and all that was acknowledged is there",
         "one byte flipped, 200 times at random: either nothing is missing, or the snapshot is there and it is said",
         "test_stalled_disk.py::test_a_stalled_disk_holds_up_neither_an_e_stop_nor_the_watchdog")),
    "off first": (
        "Whatever a board still does when the daemon starts, it is told to stop before anything else.",
        ("start: the first tick writes a stop and the board confirms it",
         "start: all channels off first, the chip configured, running 500 µs later, every off confirmed",
         "start: every line off before anything, the first tick says so again and reads it back")),
    "claims": (
        "Chips on I2C, GPIO and serial lines, PWM outputs, ports and the store have one owner; a second daemon is told who.",
        ("a second owner is refused before it writes anything; free again once the first is gone",
         "line claimed: a second owner is told that another process holds it; free again once the first is gone",
         "a second program on the same store: refused with the file's name")),
    "whole reload": (
        "A new configuration is taken whole or not at all; a wider limit waits for the safe state.",
        ("test_reload.py::test_a_wrong_file_changes_nothing_and_every_error_has_its_place",
         "nothing is told to any loop before every one has said that it is there")),
    "child supervision": (
        "A process of the daemon's that is silent or ends is killed and started again, ever more seldom.",
        ("silent for five seconds: killed once, and started again when it has ended",)),
}

CELLS = []
# What moves, heats or opens something.
ACTUATORS = ("robot", "leg", "sprinkler", "pump")
OTHERS = ("plants", "video")


def cell(systems, fault, verdict, **more):
    for system in systems.split():
        for key in ("acts", "shown"):
            if key in more and not isinstance(more[key], tuple):
                more[key] = (more[key],)
        CELLS.append(Cell(system, fault, verdict, **more))


def no(systems, fault, because):
    cell(systems, fault, NOT_APPLICABLE, text=because)


moves_nothing = "it moves nothing"
keeps_nothing = "its loops keep nothing on a disk"

# The program.
for name in ACTUATORS:
    cell(name, "kill", SAFE, promise="at once; the aim is 20 ms for 99 of 100", acts="guard", told="log, by the guard", lost="what was not yet sent",
         shown=Process("killed", 5_000))
cell("plants", "kill", SAFE, promise="nothing moves", acts="store", told="broker, by the daemon's will", lost="nothing acknowledged",
     shown=(Test("100 kills while plants are written: the file is sound and all that was acknowledged is there, whole"),
            Test("killed right after a request: the gap and the day's number are kept"), Test("killed: the broker says offline in its stead")))
cell("video", "kill", SAFE, promise="nothing moves", acts="child supervision", told="viewers lose the picture",
     lost="the end of a recording", shown=Test("test_video.py::test_the_daemon_gone_the_video_process_goes_too"))

for name in ("robot", "leg", "pump"):
    cell(name, "stop", SAFE, promise="guard's time-out (1 s)", acts=("heartbeat", "guard"), told="log, health, event; a state that a person leaves",
         lost="commands meanwhile", shown=Process("stopped", 10_000))
cell("sprinkler", "stop", SAFE, promise="guard's time-out (1 s)", acts=("heartbeat", "guard"), told="log, health, event",
     lost="the rest of the run, which is logged as ended when the guard wrote", shown=Process("stopped", 10_000))
cell("plants", "stop", SAFE, promise="nothing moves", acts="staleness", told="readings are old, then silent", lost="readings meanwhile",
     shown=Scenario("plants-bus", "the next tick takes", "Basil: silent", 120_000))
cell("video", "stop", SAFE, promise="nothing moves", acts="child supervision", told="state, log", lost="pictures meanwhile",
     shown=Test("test_video.py::test_a_video_process_that_is_killed_or_hangs_is_replaced_and_control_goes_on"))

for fault, run, told, window in (
    ("guard-killed", "guard_killed", "log, health, metrics", "the milliseconds until there is a successor"),
    ("guard-hangs", "guard_hangs", "log, health, metrics", "the second until it is noticed")):
    for name in ACTUATORS:
        cell(name, fault, SAFE, promise="as kill −9, by the successor", acts=("replacement", "guard"), told=told, lost="nothing",
             text=f"a daemon that dies within {window} is as both killed", shown=Process(run, 5_000))
    no("plants video", fault, moves_nothing)

for name in ACTUATORS:
    cell(name, "both", SAFE_IF, promise="the stop hook's start, with a configuration that is broken by then", acts=("stop hook", "hardware watchdog"), told="systemd's journal",
         lost="as kill −9", text="systemd runs it, whose stop hook writes the safe state; otherwise everything stays on until a hardware watchdog, if configured, resets the board",
         shown=(Process("both_killed", 30_000, notes={"on": sorted(ACTUATORS)}), Test("packaging/checks::its stop hook has used the plan")))
no("plants video", "both", moves_nothing)

cell("robot", "lane", SAFE, promise="the lane's next instant; 1 s by the guard", acts=("missed releases", "heartbeat", "mount halt", "beep end"), told="state, log",
     lost="drives older than 250 ms", shown=(Scenario("robot-lane-stall", "the next tick takes", "fault: the control loop missed", 450),
                                               Scenario("robot-mount-stall", "the next tick takes", "fault: the control loop missed", 600)))
cell("leg", "lane", SAFE, promise="the lane's next instant; 1 s by the guard", acts=("missed releases", "heartbeat"), told="state, telemetry",
     lost="pulses older than 150 ms",
     shown=Test("lane stalls past three releases: every leg in fault that says so, off by the next instant the lane has"))
cell("sprinkler", "lane", SAFE, promise="the lane's next instant; 1 s by the guard", acts=("missed releases", "heartbeat"), told="state, log",
     lost="openings older than 2 s",
     shown=Test("lane stalls past three releases with a valve open: off by the next instant the lane has, a fault that says so"))
cell("pump", "lane", SAFE, promise="the lane's next instant; 1 s by the guard", acts=("missed releases", "heartbeat"), told="state, log",
     lost="requests that waited", shown=(Scenario("pump-lane-stall", "the next tick takes", r"pump +off$", 700),
                                         Test("releases missed are a fault before the guard acts, whatever its time-out")))
cell("plants", "lane", SAFE, promise="nothing moves", acts="staleness", told="silent, after two minutes", lost="readings meanwhile",
     shown=Scenario("plants-bus", "the next tick takes", "Basil: silent", 120_000))
no("video", "lane", "no lane of its: it is a process of its own")

for name in ACTUATORS:
    cell(name, "tick", SAFE, promise="guard's time-out (1 s) + 1.5 periods", acts=("heartbeat", "guard"),
         told="log, by the guard; `tactus top` while it hangs", lost="commands meanwhile",
         shown=(Process("tick_hangs", 10_000),
                Test("one of two control loops hangs for 3 s: no heartbeat says that it advances, reported after 1 s by its place, and again when it is back")))
no("plants", "tick", moves_nothing + "; a lane that stalls is above")
cell("video", "tick", SAFE, promise="nothing moves", acts="child supervision", told="state, log", lost="pictures meanwhile",
     shown=Test("silent for five seconds: killed once, and started again when it has ended"))

# Buses, lines, sensors.
cell("robot", "nak", UNSAFE, promise="fault after 3 writes; the stop at the next tick that the board takes", acts=("off until confirmed", "latch"),
     told="state, log, reset refused until confirmed", lost="nothing",
     text="while it does not answer the wheels turn on, and a buzzer sounds on: the boards keep their last command. Time: from the bus's return",
     shown=Scenario("robot-bus-nak", "bus +works", "the motors answer again", 100))
cell("robot", "bus", UNSAFE, promise="fault at once; the stop at the next tick that the board takes", acts=("off until confirmed", "latch"),
     told="state, log, reset refused until confirmed", lost="nothing",
     text="while it is stuck the wheels turn on, and a buzzer sounds on: the boards keep their last command. Time: from the bus's return",
     shown=Scenario("robot-bus-stuck", "bus +works", "the motors answer again", 100))
cell("leg", "nak", SAFE_IF, promise="the same tick", acts=("output enable", "off until confirmed", "latch"),
     told="state, telemetry (error 3)", lost="nothing", text="a line is wired to the chip's output-enable pin (`leg.output_enable`); otherwise the pulse goes on until the chip answers",
     shown=(Test("chip gone: disabled in the same tick, and until it answers and a leg is armed and set anew"),
            Test("chip gone: every leg in fault, all off tried at once and at every period; back, it is configured, legs stay in fault"),
            Test("one of two chips does not answer: every leg in fault in that tick, the other chip off, at every period until both answer")))
cell("leg", "bus", SAFE_IF, promise="the next transfer",
     acts=("output enable", "off until confirmed", "latch"), told="state, telemetry (error 3)", lost="nothing",
     text="a line is wired to the chip's output-enable pin (`leg.output_enable`); otherwise the pulse goes on until the bus is free",
     shown=(Test("stuck bus: disabled before the transfer that times out"), Test("stuck bus: one transfer a tick that times out, and no second one")))
cell("sprinkler", "nak", SAFE_IF, promise="a second, or the next change", acts=("off until confirmed", "latch"),
     told="state, log: which chip", lost="the run, which is logged",
     text="its valves hang on GPIO lines, or there is a master valve on one (`sprinkler.master`), which the fault closes; "
          "otherwise valves on a chip of `sprinkler.expanders` stay as they are until it answers",
     shown=(Test("expander gone: a fault at once that names the chip; off at the first tick that it takes; only then a reset"),
            Test("expander gone, master valve on a GPIO line: the fault closes the master valve in the same tick")))
cell("sprinkler", "bus", SAFE_IF, promise="a second, or the next change", acts=("off until confirmed", "latch"),
     told="state, log: which chip", lost="the run, which is logged",
     text="its valves hang on GPIO lines, or there is a master valve on one (`sprinkler.master`), which the fault closes; "
          "otherwise valves on a chip of `sprinkler.expanders` stay as they are until the bus is free",
     shown=Test("expander's bus stuck: a fault at once; off at the first tick that it is free"))
cell("pump", "nak", SAFE, promise="1 s after the last reading (device role)", acts="plausibility", told="ERROR:SENSOR_FAULT, state", lost="nothing",
     shown=Test("silence: what does not answer for a second is unreadable, the button works on; it is read again when it is back"))
cell("pump", "bus", SAFE, promise="1 s after the last reading (device role)", acts="plausibility", told="ERROR:SENSOR_FAULT, state", lost="nothing",
     shown=(Test("silence: what does not answer for a second is unreadable, the button works on; it is read again when it is back"),
            Test("fault: a sensor that reads what cannot be stops the motor, and why and the way out are told")))
cell("plants", "nak", SAFE, promise="nothing moves; no water is asked for", acts="staleness", told="silent, after two minutes", lost="readings",
     shown=Test("probe gone: a failure each period, the others unharmed; back, it is reset and read"))
cell("plants", "bus", SAFE, promise="nothing moves; no water is asked for", acts="staleness", told="silent, after two minutes", lost="readings",
     shown=Scenario("plants-bus", "bus +stuck", "Basil: silent", 130_000))
for fault in ("nak", "bus", "line", "sensor"):
    no("video", fault, "no bus, no line")

cell("robot", "line", UNSAFE, promise="the stop at the next tick that the line takes", acts=("off until confirmed", "latch"),
     told="state, log", lost="nothing", text="on a serial board (xgo-rider) nobody confirms a stop; while the line takes nothing it turns on",
     shown=Test("failures: the bus's and the line's errors become the machine's kinds"))
cell("leg", "line", SAFE, promise="200 ms", acts=("read back", "off until confirmed"), told="state, telemetry (error 3)", lost="nothing",
     shown=(Test("line shorted, either way: noticed within 200 ms by its level, fault, off through the chip"),
            Test("line gone: every leg in fault, the chip's own off still works; back, the chip is configured, armed anew it drives")))
cell("sprinkler", "line", SAFE_IF, promise="200 ms", acts=("read back", "latch"), told="state, log: which line",
     lost="the run, which is logged", text="there is a master valve (`sprinkler.master`), which the fault closes; otherwise a line that stays on waters on",
     shown=(Test("a relay line that stays on: told again twice within 200 ms, then a fault that closes the master valve"),
            Test("fault: the lines fail; every run ends, the off is tried at every tick until it is taken, then a reset leaves it")))
cell("pump", "line", UNSAFE, promise="the next tick that the output takes", acts="off until confirmed", told="state: not confirmed", lost="nothing",
     text="while its output takes nothing the motor turns on. Time: from its return", shown=Scenario("pump-line-stuck", "mended", r"pump +off$", 100))
no("plants", "line", moves_nothing)

cell("robot", "sensor", SAFE, promise="0.6 s without a valid reading: no forward motion", acts="stop within", told="state, log, page", lost="forward motion",
     shown=(Scenario("robot-distance-sensor", "distance sensor +dead", "the distance ahead is not known", 650),
            Test("the sensor gives nothing: forward motion ends 500 ms after the last reading; it works again, a new stick drives"),
            Test("accelerometer gone: the attitude is not known, the robot drives on; back, it is known again")))
cell("leg", "sensor", SAFE, promise="nothing is invented: the voltage is unknown", acts="staleness", told="state, telemetry", lost="the battery's limits meanwhile",
     shown=(Test("sensor silent: the legs drive on, unknown after three misses, told once; back, told once"),
            Test("sensor without power for a moment: its zero is no voltage")))
cell("sprinkler", "sensor", SAFE, promise="30 s (no pulses while a valve is open)", acts="flow", told="state, log", lost="the run, which is logged",
     shown=(Test("no flow for 30 s while a valve is open: a fault that names the zone"),
            Test("an unreadable line: schedules run as they are, said once; a delay that had begun runs to its end"),
            Test("wet for two weeks on end: a broken wire, said once, and schedules run; dry, it counts again"),
            Test("less than a zone's limit: a fault that says how much flowed, and which limit, learnt from how many runs"),
            Test("litres that do not come: the longest time ends the run, with an outcome of its own"),
            Test("a topic and a pin that say nothing any more, or never did: as scheduled, and the log says so")))
cell("pump", "sensor", SAFE, promise="2 s", acts=("plausibility", "latch"), told="ERROR:SENSOR_FAULT, state, log", lost="nothing",
     shown=(Scenario("pump-sensor", "skinSensorOpen", "error: the skin sensor reads", 2_100),
            Scenario("pump-sensor-shorted", "skinSensorShorted", "error: the skin sensor reads", 2_100)))
cell("plants", "sensor", SAFE_IF, promise="nothing moves; no water is asked for", acts="staleness", told="unknown at once; silent, after two minutes", lost="readings",
     text="the wire's end is at an end of the converter's range, or the probe is a seesaw; an input that floats may look like dry soil: then the link's gap and number a day hold water back",
     shown=(Scenario("plants-sensor", "wire of 0x36: open", "Basil: silent", 130_000),
            Test("a wire open or short: no probe reads what soil can be, on no chip; mended, all is well")))

# Links.
silence = "1 s after the last command that came"
for fault, scenario, bound, lost in (
    ("link", "robot-link-loss", 1_050, "control"), ("loss", "robot-packet-loss", 1_050, "single commands; later ones replace them"),
    ("delay", "robot-delay", 1_550, "nothing; control is as late as the link"), ("doubling", "robot-doubling", 1_050, "nothing"),
    ("overtaking", "robot-overtaking", 1_150, "the overtaken ones, which are ignored")):
    acts = ("failsafe",) if fault in ("link", "loss", "delay") else ("order of commands", "failsafe")
    cell("robot", fault, SAFE, promise=silence, acts=acts, told="state, log, the operator's own display", lost=lost,
         shown=(Scenario(scenario, "link +down", "stopped: the controlling source went silent", bound),)
         + ((Process("silent", 10_000),) if fault == "link" else ()))
cell("leg", "link", SAFE, promise="200 ms after the last command that came (5 s in the run that is measured); a radio's end at once", acts="deadman", told="state, telemetry",
     lost="control; the leg must be armed again",
     shown=(Process("silent", 20_000), Test("link cut: the pulse ends exactly 200 ms after the last command came in; the servo lets go"),
            Test("10,000 trips at random moments: every one of them exactly 200 ms after the last command, to the nanosecond"),
            Test("hexapod walking: silence cuts the pulses of both chips 200 ms after the last ping, and the sequence ends"),
            Test("driving, link lost: off in that release, fault without an error; connected again: disarmed, and armed anew")))
for fault in ("loss", "doubling", "overtaking"):
    cell("leg", fault, SAFE, promise="200 ms after the last command that came", acts="deadman", told="counters", lost="single commands; later ones replace them",
         text="frames have no number: an older pulse that overtook acts until the next one" if fault == "overtaking" else "",
         shown=Test("bad link, 20 % lost, doubled, overtaken: the leg stays armed"))
cell("leg", "delay", SAFE, promise="200 ms after the last command that came", acts="deadman", told="age of the command, in telemetry",
     lost="nothing; control is as late as the link",
     shown=Test("armed: whatever comes at the deadline, the pulse ends, even if it is the command that comes too late"))
cell("sprinkler", "link", SAFE, promise="the run's own end", acts="valve deadline", told="nobody", lost="nothing",
     shown=(Test("silence: nobody asks anything any more, the valve closes at its deadline"),
            Test("on for 12 minutes: the line holds for exactly 720 s, one call that sets it and one that ends it")))
for fault in ("loss", "delay", "doubling", "overtaking"):
    no("sprinkler plants video", fault, "its commands come over TCP, each acknowledged" if fault != "delay" else
       "its commands come over TCP, each acknowledged; what waits inside is stale by its own rule")
cell("pump", "link", SAFE_IF, promise="its silence limit (here 60 s); otherwise its run limit, 30 min",
     acts=("silence limit", "run limit"), told="state: unknown, by whom", lost="control",
     text="this program is the device and has a silence limit (`pump.silence_limit_s`); otherwise it pumps on to its own limit, as its requirement says",
     shown=(Scenario("pump-link-loss", "line +cut", "no command for the silence limit", 60_000),
            Scenario("pump-link-loss-unlimited", "line +cut", "maximum runtime exceeded", 1_800_000)))
cell("pump", "loss", SAFE, promise="an OFF is repeated every second until confirmed", acts="off until confirmed", told="state: not confirmed", lost="nothing",
     shown=(Scenario("pump-packet-loss", "person +off$", "operator +off, by app", 5_000),
            Test("1,000 random histories over a line that delays and loses: an ON that was accepted starts the pump, or its failure is told")))
cell("pump", "delay", SAFE, promise="an OFF overtakes what waits", acts="off until confirmed", told="state: not confirmed", lost="nothing",
     shown=(Test("late answer of a start that an OFF took back: nobody knows which of them came last, so it is turned off again"),
            Test("OFF: overtakes what waits and what is in flight, and is repeated every second until confirmed")))
cell("pump", "doubling", SAFE, promise="an ON that comes again prolongs nothing", acts="run limit", told="state", lost="nothing",
     shown=Test("run limit: 30 min after the first ON, to the nanosecond; ON while on does not prolong it"))
no("pump", "overtaking", "a serial line keeps the order, and one command is in flight")
cell("plants", "link", SAFE, promise="nothing moves", acts="staleness", told="`offline`, by the broker", lost="what the app sent meanwhile",
     shown=Test("broker gone: refused meanwhile; back, subscriptions and retained state are, too, though the broker forgot them"))
cell("video", "link", SAFE, promise="nothing moves", acts="child supervision", told="counters", lost="the viewer's picture",
     shown=Test("test_video.py::test_who_leaves_an_http_stream_leaves_its_place"))

# Clocks.
cell("robot", "clock", SAFE, promise="ours: no effect; the operator's: by way of zero", acts=("monotonic clock", "order of commands"),
     told="counters", lost="commands of at most 0.2 s",
     shown=(Test("20,000 senders at 20 Hz whose clock is set by 0.05 s to 30 years: steered again within 0.2 s of it"),
            Test("test_drive.py::test_a_stamp_an_hour_ahead_changes_nothing"),
            Test("nothing outside the runtime reads a clock or sleeps but the client's clock; nothing at all but it and the log's time stamp asks for the date")))
for name in ("leg", "pump"):
    cell(name, "clock", SAFE, promise="no effect", acts="monotonic clock", told="nobody", lost="nothing",
         shown=Test("nothing outside the runtime reads a clock or sleeps but the client's clock; nothing at all but it and the log's time stamp asks for the date"))
cell("sprinkler", "clock", SAFE, promise="every run as long as asked; no start twice, none late", acts=("monotonic clock", "valve deadline"),
     told="log: missed starts", lost="starts that the clock jumped over by more than the catch-up window",
     shown=(Scenario("sprinkler-clock"), Test("the clock is set back over a start that was: it does not run again"),
            Test("the clock is set forward over a start, within the catch-up window: it runs; beyond it: missed, never late")))
cell("plants", "clock", SAFE, promise="nothing moves; the link's gap holds", acts="monotonic clock", told="nobody", lost="nothing",
     shown=Test("wall clock set forward or back in between: the gap is the runtime's"))
no("video", "clock", "pictures carry the camera's own time")

# Disks.
stalled = Test("test_stalled_disk.py::test_a_stalled_disk_holds_up_neither_an_e_stop_nor_the_watchdog")
without = Test("test_without_store.py::test_says_so_while_it_runs_and_goes_on_by_itself")
starts_without = Test("test_without_store.py::test_starts_without_the_store_and_takes_it_up_again")
for fault in ("full", "read-only", "corrupt"):
    no("robot leg", fault, keeps_nothing)
cell("robot leg", "slow", SAFE, promise="no effect", acts="store", told="nobody", lost="nothing", shown=stalled)
for name, keeps in (("sprinkler", "runs and schedules"), ("pump", "sessions"), ("plants", "plants and readings")):
    refused = "what is refused was not done; " + keeps + " meanwhile"
    cell(name, "full", SAFE, promise="stops are obeyed at once", acts="store", told="health STORE_FAILED, metrics, log, 503 to who asks", lost=refused,
         shown=(without, Test("a disk of 2 MB runs full: the error says so, all that was acknowledged is there, writes go on once there is room")))
    cell(name, "read-only", SAFE, promise="stops are obeyed at once", acts="store", told="health STORE_FAILED, metrics, log, 503 to who asks", lost=refused,
         shown=starts_without)
    cell(name, "slow", SAFE, promise="stops are obeyed at once", acts="store", told="the answer waits", lost="nothing", shown=stalled)
    cell(name, "corrupt", SAFE, promise="noticed when opened; the newest sound snapshot", acts="store", told="health STORE_LOST; log: what is lost, where the rest is",
         lost="what is newer than the snapshot",
         shown=(Test("one byte flipped, 200 times at random: either nothing is missing, or the snapshot is there and it is said"),
                Test("damaged while open: reads and writes say so, and no snapshot of it replaces a good one"))
         + {"sprinkler": (), "pump": (Test("a digit changed in the file: found by its seal, a snapshot takes its place"),),
            "plants": (Test("a digit of a reading changed behind the store's back: seen when it is opened, the snapshot takes its place"),)}[name])
cell("video", "full", SAFE, promise="nothing moves", acts="child supervision", told="why, to who asked for the recording", lost="the recording",
     shown=Test("a recording whose file cannot be made: why; the next, elsewhere, is made"))
cell("video", "read-only", SAFE, promise="nothing moves", acts="child supervision", told="why, to who asked for the recording", lost="the recording",
     shown=Test("a recording whose file cannot be made: why; the next, elsewhere, is made"))
no("video", "slow", "it keeps nothing but recordings, in a process of its own")
no("video", "corrupt", "it reads nothing that it has written")

# Resources.
for name in ACTUATORS:
    cell(name, "descriptors", SAFE, promise="loops go on; then as kill −9", acts=("guard", "places for stopping", "no guard, no output"),
         told="health FEW_DESCRIPTORS, log", lost="new connections but of those who may stop",
         shown=(Process("without_descriptors", 5_000),
                Test("test_guard.py::test_no_other_guard_can_be_had_every_output_stops_until_there_is_one_and_somebody_resets"), Test("test_lockout.py::test_with_64_descriptors_an_e_stop_still_comes_in")))
    cell(name, "memory", SAFE, promise="loops allocate nothing; an e-stop is obeyed, or the daemon ends and the guard writes", acts=("guard",),
         told="log", lost="requests that need memory",
         shown=(Process("without_memory", 10_000),
                Test("no memory for another thread: an error that names the lane, and nothing is left; with memory again it starts")))
cell("plants video", "descriptors", SAFE, promise="nothing moves", acts="places for stopping", told="health FEW_DESCRIPTORS, log", lost="new connections",
     shown=Test("test_lockout.py::test_with_64_descriptors_an_e_stop_still_comes_in"))
cell("plants", "memory", SAFE, promise="nothing moves", acts="staleness", told="counters", lost="the oldest windows of clients",
     shown=(Test("spam: with a window for each of 5,000 clients memory is bounded and the newest are still held to the limit"),
            Test("test_lockout.py::test_hundreds_of_bodies_take_no_memory_to_speak_of")))
cell("video", "memory", SAFE, promise="nothing moves", acts="child supervision", told="counters", lost="pictures of viewers who do not read",
     shown=Test("a viewer who does not read: never more than the limit waits, and it goes on with a key frame"))

for name in ACTUATORS:
    tests = {
        "sprinkler": (Test("test_restart_limits.py::test_a_crash_loop_does_not_water_for_ever"),
                      Test("200 random crash loops: no run is open for longer than was asked, no zone past its day's limit, nothing uncharged")),
        "pump": (Test("test_restart_limits.py::test_the_pump_s_run_limit_goes_on_counting_over_kills"),),
    }.get(name, ())
    cell(name, "crash-loop", SAFE, promise="off each time; nothing comes on by itself; an e-stop holds; limits count on",
         acts=("guard", "off first", "latch over restarts") + {"sprinkler": ("store",), "pump": ("run limit",)}.get(name, ()), told="log of each start",
         lost="the run, which is logged" if name == "sprinkler" else "the command", shown=(Process("crash_loop", 5_000), *tests))
cell("plants", "crash-loop", SAFE, promise="nothing moves; the link's gap holds", acts="store", told="log of each start", lost="nothing acknowledged",
     shown=Test("restart: the stored record keeps the gap and the day's number"))
cell("video", "crash-loop", SAFE, promise="nothing moves", acts="child supervision", told="state, log", lost="pictures meanwhile",
     shown=Test("ends again and again: ever longer pauses; short ones again after one that lived"))

no("robot leg plants video", "welded", "no relay")
cell("sprinkler", "welded", SAFE_IF, promise="two minutes", acts=("flow",), told="state, log: a leak", lost="water",
     text="there are a flow sensor, whose alarm is a fault, and a master valve; without the sensor nobody notices, as the line reads off",
     shown=Test("a valve that does not close: a leak within two minutes; a reset does not hide it"))
cell("pump", "welded", UNSAFE, promise="none", acts=(), told="nobody", lost="control",
     text="a transistor that conducts for ever cannot be seen: no sensor says that the motor turns. Pull the plug")

# Others.
cell("robot", "replay", UNSAFE, promise="no effect beside a live controller", acts="order of commands", told="counters", lost="nothing",
     text="while nobody has control a recorded drive is as good as any, for one second each; datagrams carry no proof of who sent them. UDP listens to "
          "this machine alone unless configured; over `/ws` there are tokens",
     shown=(Test("test_drive.py::test_a_recording_sent_again_back_to_back_moves_nothing"),
            Test("20,000 recordings sent again back to back, in any part, as often as you like: none moves the robot")))
cell("leg", "replay", UNSAFE, promise="none; 200 ms after the last one", acts="deadman", told="state, telemetry", lost="control",
     text="LegCtrl's frames have neither number nor stamp: a recorded arm arms. UDP listens to this machine alone unless configured",
     shown=Test("deadman: fed by the arm that armed, by sets and pings while armed, and by nothing else"))
no("sprinkler plants video", "replay", "no datagrams")
no("pump", "replay", "a line from one end to the other; whoever is near a Bluetooth module may connect, and needs no recording")

e_stops = Test("test_lockout.py::test_e_stops_beside_hundreds_of_connections_that_say_nothing")
cell("robot", "squatter", SAFE, promise="anyone may stop, at once", acts=("ownership", "places for stopping"), told="who holds control, in the state", lost="driving, until it is silent for 1 s",
     shown=(e_stops, Test("driving: the controller falls silent, control goes to the next source at the failsafe and not before"),
            Test("test_drive.py::test_one_source_at_a_time")))
cell("leg", "squatter", SAFE, promise="anyone may disarm and stop, at once", acts=("latch", "places for stopping"), told="links and sources, in the state",
     lost="two who move one leg are both obeyed: it has no owner",
     shown=(e_stops, Test("several frames in one release: only the last pulse is written; a disarm among them comes first")))
for name in ("sprinkler", "pump"):
    cell(name, "squatter", SAFE, promise="anyone with a token may stop, at once", acts="places for stopping", told="health, log", lost="nothing",
         shown=(e_stops, Test("test_lockout.py::test_more_connections_with_tokens_than_allowed_are_told_and_who_can_stop_is_not")))
cell("plants", "squatter", SAFE, promise="nothing moves", acts="places for stopping", told="ERR_kickedForSpam, once a window", lost="the sixteenth message of 15 s",
     shown=Test("spam: the sixteenth message of 15 s is told so once, others are not touched; after 15 s all is well"))
cell("video", "squatter", SAFE, promise="nothing moves", acts="places for stopping", told="counters", lost="places of further viewers",
     shown=Test("test_video.py::test_many_viewers_share_one_encoder_and_a_killed_one_harms_nobody"))

gone = Test("broker dies and comes back with nothing in mind: states retained again, commands taken; the log says both")
cell("robot", "broker", SAFE, promise="1 s after the last command that came", acts="failsafe", told="log", lost="commands that wait at the broker",
     shown=(gone, Test("states of every system, retained; commands answered as over HTTP; a silent driver, an e-stop; offline at the end")))
cell("leg", "broker", SAFE, promise="200 ms after the last command that came", acts="deadman", told="log", lost="commands that wait at the broker",
     shown=(gone, Test("armed: silence for 200 ms cuts the pulse, to the nanosecond")))
cell("sprinkler", "broker", SAFE, promise="the run's own end", acts="valve deadline", told="log", lost="commands that wait at the broker",
     shown=(gone, Test("silence: nobody asks anything any more, the valve closes at its deadline")))
cell("pump", "broker", SAFE, promise="its own limit", acts="run limit", told="log", lost="commands that wait at the broker",
     shown=(gone, Test("run limit: 30 min after the first ON, to the nanosecond; ON while on does not prolong it")))
cell("plants", "broker", SAFE, promise="nothing moves", acts="staleness", told="log", lost="the app's messages meanwhile",
     shown=(gone, Test("test_plants.py::test_a_broker_that_forgot_everything_is_told_again")))
no("video", "broker", "pictures do not go by the broker")

no("robot leg sprinkler pump plants", "camera", "no camera takes part in its control")
cell("video", "camera", SAFE, promise="nothing moves", acts="child supervision", told="state, 503 with the cause", lost="pictures meanwhile",
     shown=(Test("a camera that is missing: the cause, 503 for players, another attempt; never the end of the process"),
            Test("a camera that goes away again and again: its viewers' picture comes back by itself"),
            Test("killed, then stopped: replaced both times, the frames come back, and a 1 kHz loop beside it loses no tick's account")))

cell("robot leg sprinkler pump plants video", "reload", SAFE, promise="nothing changes", acts="whole reload", told="every error, with line and column", lost="nothing",
     shown=(Test("test_reload.py::test_a_wrong_file_changes_nothing_and_every_error_has_its_place"),
            Test("test_reload.py::test_what_only_a_start_can_take_is_named_with_its_place_and_nothing_is_taken")))

for name in ("robot", "leg"):
    cell(name, "two", SAFE, promise="the second one does not start; outputs stay as they are", acts="claims", told="the second one's user: port or chip", lost="nothing",
         shown=(Process("second_daemon", notes={"refused": True}),
                Test("HTTP port taken: the start ends with status 1 and says which, before anything was written to the motors")))
for name in ("sprinkler", "pump"):
    cell(name, "two", SAFE, promise="the second one does not start; outputs stay as they are", acts="claims", told="the second one's user: line or store", lost="nothing",
         shown=(Process("second_daemon", notes={"refused": True}), Test("a second program on the same store: refused with the file's name")))
cell("plants", "two", SAFE, promise="nothing moves", acts="claims", told="the second one's user: the store", lost="nothing",
     shown=Test("open already: refused by its name; closed, opened again with all that was kept"))
cell("video", "two", SAFE, promise="nothing moves", acts="claims", told="log: the port is taken", lost="the second one's stream",
     shown=Test("the port is taken: said, and taken as soon as it is free"))
