import Foundation
import Observation

/// The servo legs. A leg that was armed here is fed here, until it is disarmed, the model goes away or the connection is lost: then the
/// daemon's deadman takes the pulse away.
@MainActor
@Observable
public final class LegsModel {
  /// The legs as the daemon last said them.
  public private(set) var state: LegsState
  /// The numbers of the legs that were armed here and are fed.
  public private(set) var fed: Set<Int> = []

  @ObservationIgnored let link: DaemonLink
  @ObservationIgnored private var feeding: Task<Void, Never>?
  /// Pings that HTTP has not answered yet.
  @ObservationIgnored private var asking: Set<Int> = []

  init(_ state: LegsState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  /// Arms a leg, and feeds it from then on. It has no pulse before `set`.
  public func arm(_ index: Int) async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/arm", kind: .act))
    fed.insert(index)
    feed()
  }

  /// Disarms a leg: no pulse. Tried again until the daemon answers, four times at most.
  public func disarm(_ index: Int) async throws(ClientError) {
    fed.remove(index)
    try await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/disarm", kind: .makesSafe))
  }

  /// Disarms every leg, whoever has armed it.
  public func disarmAll() async throws(ClientError) {
    fed = []
    try await link.caller.call(ClientRequest("POST", "/api/leg/disarm", kind: .makesSafe))
  }

  /// Sets the pulse of an armed leg, microseconds. The daemon keeps it within the leg's limits.
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

  /// Turns every leg off until a reset. Tried again until the daemon answers, four times at most.
  public func emergencyStop() async throws(ClientError) {
    fed = []
    try await link.caller.call(ClientRequest("POST", "/api/leg/e-stop", kind: .makesSafe))
  }

  /// Leaves an emergency stop and faults.
  public func reset() async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/leg/reset", kind: .act))
  }

  /// Ends the feeding and disarms what was fed: the app is no longer in front.
  func release() {
    for index in fed {
      fed.remove(index)
      Task { [link] in
        _ = try? await link.caller.call(ClientRequest("POST", "/api/leg/\(index)/disarm", kind: .makesSafe))
      }
    }
  }

  func take(_ state: LegsState) {
    self.state = state
    // What is no longer armed, for whatever reason, is not fed.
    for leg in state.legs where leg.state == .fault || leg.state == .emergencyStopped || leg.state == .shutDown {
      fed.remove(leg.index)
    }
  }

  /// Feeds three times within each leg's deadman, from now on: the leg before may have had a longer one.
  private func feed() {
    feeding?.cancel()
    feeding = Task { [weak self, clock = link.clock] in
      while !Task.isCancelled, let period = await self?.beat() {
        do { try await clock.wait(for: period) } catch { return }
      }
    }
  }

  /// Pings each fed leg. Returns the time until the next beat; `nil` if nothing is fed any more.
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

  /// A LegCtrl frame for a leg over the WebSocket.
  static func frame(_ index: Int, type: UInt8, _ payload: [UInt8]) -> Data {
    Data([0x80 | UInt8(truncatingIfNeeded: index & 0x3F), 0x01, type, UInt8(payload.count), 0x00] + payload)
  }
}
