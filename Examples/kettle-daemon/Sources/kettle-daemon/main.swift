import TactusDaemon

DaemonProgram(
  name: "kettle-daemon", version: "1.0.0", summary: "Brews: heater, agitator, level switch, thermometer.",
  systems: [Kettle.self]
).main()
