import Glibc

// The guard's process is recognised before anything else runs: it must be up in a few milliseconds.
if CommandLine.arguments.dropFirst().first == "guard",
  let status = DaemonGuard.run(Array(CommandLine.arguments.dropFirst(2)))
{
  exit(status)
}
// Debian's broker, confined before it starts.
if CommandLine.arguments.dropFirst().first == "broker" {
  exit(ConfinedBroker.run(Array(CommandLine.arguments.dropFirst(2))))
}
if let unknown = UnknownCommand.first(in: Array(CommandLine.arguments.dropFirst())) {
  complain("\(unknown)")
  exit(64)
}
TactusCommand.main()
