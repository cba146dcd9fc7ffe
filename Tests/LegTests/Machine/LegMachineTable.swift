/// Every state × every event: the state after it, what the servo gets, the verdict, the error code in the next telemetry.
/// `?` marks an off not yet confirmed. Pulses: 1200 is in force, `set` is 1700, `beyond` 2600.
let legMachineTable = """
  """
