// An app without a screen, for Tests/Service: client-probe SCENARIO ADDRESS [ARGUMENT…], with the token in the environment variable
// CLIENT_TOKEN. It prints what a person would see, a line each, and ends with 0 if everything was as expected.
import Foundation
import TactusClient

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2, let scenario = Scenario.all[arguments[0]] else {
  say("usage: client-probe \(Scenario.all.keys.sorted().joined(separator: "|")) ADDRESS [ARGUMENT…]")
  exit(64)
}
do {
  let token = ProcessInfo.processInfo.environment["CLIENT_TOKEN"]
  let run = Scenario(try Endpoint(arguments[1]), token: token, rest: Array(arguments.dropFirst(2)))
  try await scenario(run)
  // Whatever the daemon said was understood.
  if case .unintelligible(let problem) = run.model.problem { throw Unexpected("not understood: \(problem)") }
} catch {
  say("FAILED: \((error as? LocalizedError)?.errorDescription ?? "\(error)")")
  exit(1)
}
say("done")
