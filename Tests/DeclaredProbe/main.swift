import TactusDaemon

DaemonProgram(
  name: "declared-probe", version: "0.0.1", summary: "A daemon of the tests' own.",
  systems: [Oven.self, Chime.self, Bell.self]
).main()
