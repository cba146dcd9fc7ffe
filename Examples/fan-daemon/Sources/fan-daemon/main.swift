import Fan
import TactusDaemon

DaemonProgram(
  name: "fan-daemon", version: "1.0.0", summary: "Keeps a box cool with a fan.", systems: systems
).main()
