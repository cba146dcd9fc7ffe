import TactusDaemon

DaemonProgram(
  name: "doser-daemon", version: "1.0.0",
  summary: "Doses: peristaltic pumps with steppers, flow sensors and float switches.",
  systems: [Doser.self]
).main()
