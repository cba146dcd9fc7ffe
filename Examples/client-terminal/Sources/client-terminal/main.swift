import Foundation
import Observation
import TactusClient

/// Waits until something is so, as the models say it.
@MainActor
func wait(until condition: @escaping @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { next in
      withObservationTracking {
        _ = condition()
      } onChange: {
        next.resume()
      }
    }
    await Task.yield()
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let isWatering = arguments.count == 4 && arguments[1] == "water"
guard arguments.count == 1 || isWatering, let zone = Int(isWatering ? arguments[2] : "0"),
  let minutes = Double(isWatering ? arguments[3] : "0")
else {
  print("usage: client-terminal ADDRESS [water ZONE MINUTES]; the token from TACTUS_TOKEN")
  exit(64)
}
do {
  let daemon = DaemonModel(try Endpoint(arguments[0]), token: ProcessInfo.processInfo.environment["TACTUS_TOKEN"])
  daemon.start()
  Screen(daemon).show()
  guard isWatering else {
    while true { try await Task.sleep(for: .seconds(60)) }
  }
  await wait { daemon.sprinkler != nil }
  try await daemon.sprinkler?.water(zone, minutes: minutes)
  await wait { daemon.sprinkler?.state.zones.contains { $0.id == zone && $0.isOn } ?? false }
  await wait { daemon.sprinkler?.state.zones.contains { $0.id == zone && !$0.isOn } ?? false }
  print("watered")
} catch {
  print(error.localizedDescription)
  exit(1)
}
