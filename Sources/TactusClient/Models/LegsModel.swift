import Foundation
import Observation

/// The servo legs. The model pings each leg that it has armed, until the leg is disarmed, the model is released or the connection ends: then the
/// daemon's deadman ends the leg's pulse.
@MainActor
@Observable
public final class LegsModel {
  /// The legs' state as last reported by the daemon.
  public private(set) var state: LegsState
  /// The numbers of the legs that this model has armed and pings.
  public private(set) var fed: Set<Int> = []

  @ObservationIgnored let link: DaemonLink
  @ObservationIgnored private var feeding: Task<Void, Never>?
  /// The legs whose ping by HTTP has not been answered yet.
  @ObservationIgnored private var asking: Set<Int> = []

  init(_ state: LegsState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  /// Arms a leg and pings it from then on. The leg has no pulse before `set`.
  public func arm(_ index: Int) async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/arm", kind: .act))
    fed.insert(index)
    feed()
  }

  /// Disarms a leg, which ends its pulse. Repeats the request until the daemon answers, at most four times.
  public func disarm(_ index: Int) async throws(ClientError) {
    fed.remove(index)
    try await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/disarm", kind: .makesSafe))
  }

  /// Disarms every leg, whoever has armed it. Repeats the request until the daemon answers, at most four times.
  public func disarmAll() async throws(ClientError) {
    fed = []
    try await link.caller.call(ClientRequest("POST", "/api/leg/disarm", kind: .makesSafe))
  }

  /// Sets the pulse of an armed leg in µs. The daemon clamps it to the leg's limits.
  public func set(_ index: Int, pulseUs: Int) async throws(ClientError) {
    guard (500...2500).contains(pulseUs) else {
      throw .invalid(field: "pulseUs", message: "expected 500…2500 microseconds, got \(pulseUs)")
    }
    let low = UInt8(truncatingIfNeeded: pulseUs)
    let high = UInt8(truncatingIfNeeded: pulseUs >> 8)
    if await link.send(frame: Self.frame(index, type: 0x03, [low, high])) { return }
    let body = try Caller.body(["pulseUs": pulseUs])
    try await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/set", body: body, kind: .stream))
  }

  /// Turns every leg off until a reset. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    fed = []
    try await link.caller.call(ClientRequest("POST", "/api/leg/e-stop", kind: .makesSafe))
  }

  /// Resets the legs after an emergency stop or faults.
  public func reset() async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/leg/reset", kind: .act))
  }

  /// Ends the pings and disarms the legs that were pinged, since the app has left the foreground.
  func release() {
    for index in fed {
      fed.remove(index)
      Task { [link] in
        _ = try? await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/disarm", kind: .makesSafe))
      }
    }
  }

  func receive(_ state: LegsState) {
    self.state = state
    // A leg that is no longer armed, whatever the reason, is no longer pinged.
    for leg in state.legs where leg.state == .fault || leg.state == .emergencyStopped || leg.state == .shutDown {
      fed.remove(leg.index)
    }
  }

  /// Pings three times within each leg's deadman, from now on: the deadman of an earlier leg may be longer.
  private func feed() {
    feeding?.cancel()
    feeding = Task { [weak self, clock = link.clock] in
      while !Task.isCancelled, let period = await self?.beat() {
        do { try await clock.wait(for: period) } catch { return }
      }
    }
  }

  /// Pings each leg that this model has armed. Returns the time until the next ping, or `nil` if no leg is left.
  private func beat() async -> Duration? {
    if !link.state.isLive { fed = [] }
    for index in fed.sorted() {
      if await link.send(frame: Self.frame(index, type: 0x04, [])) { continue }
      guard asking.insert(index).inserted else { continue }
      Task { [weak self, link] in
        _ = try? await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/ping", kind: .stream))
        self?.asking.remove(index)
      }
    }
    guard !fed.isEmpty else { return nil }
    let deadman = state.legs.filter { fed.contains($0.index) }.map(\.settings.deadmanMs).min() ?? 200
    return .milliseconds(Int(min(1000, max(20, deadman / 3))))
  }

  /// Sends a LegCtrl frame for a leg over the WebSocket.
  static func frame(_ index: Int, type: UInt8, _ payload: [UInt8]) -> Data {
    Data([0x80 | UInt8(truncatingIfNeeded: index & 0x3F), 0x01, type, UInt8(payload.count), 0x00] + payload)
  }
}
