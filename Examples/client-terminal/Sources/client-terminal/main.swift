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

/// Prints the daemons that announce themselves: the name, the address, and what they say of themselves, which is in quotation marks since anybody may
/// announce anything. Returns whether there are any.
@MainActor
func discover(within limit: Duration) async throws -> Bool {
  let daemons = try await DaemonBrowser.find(within: limit)
  for daemon in daemons {
    let texts = daemon.texts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.debugDescription)" }
    do {
      let endpoint = try await DaemonBrowser().endpoint(of: daemon)
      let scheme = endpoint.isSecure ? "https" : "http"
      print("\(daemon.name): \(scheme)://\(endpoint) \(texts.joined(separator: " "))")
    } catch {
      print(error.localizedDescription)
    }
  }
  if daemons.isEmpty { print("no daemon has answered") }
  return !daemons.isEmpty
}

let arguments = Array(CommandLine.arguments.dropFirst())
let isWatering = arguments.count == 4 && arguments[1] == "water"
let isDiscovering = arguments.first == "discover" && arguments.count <= 2
guard arguments.count == 1 || isWatering || isDiscovering, let zone = Int(isWatering ? arguments[2] : "0"),
  let minutes = Double(isWatering ? arguments[3] : "0"),
  let seconds = Double(isDiscovering ? arguments.dropFirst().first ?? "3" : "0"), (0...3_600).contains(seconds)
else {
  print("usage: client-terminal ADDRESS [water ZONE MINUTES] | discover [SECONDS]; the token from TACTUS_TOKEN")
  exit(64)
}
do {
  if isDiscovering {
    let isFound = try await discover(within: .seconds(seconds))
    exit(isFound ? 0 : 1)
  }
  let daemon = DaemonModel(try Endpoint(arguments[0]), token: ProcessInfo.processInfo.environment["TACTUS_TOKEN"])
  daemon.start()
  let screen = Screen(daemon)
  screen.show()
  guard isWatering else {
    while true {
      await screen.checkHealth()
      try await Task.sleep(for: .seconds(60))
    }
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
