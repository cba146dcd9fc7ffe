import Foundation
import Observation

/// The cooling pump.
@MainActor
@Observable
public final class PumpModel: SystemModel {
  enum Expected: Hashable {
    case isOn
    case speed
  }

  /// The pump as the daemon last said it.
  public private(set) var state: PumpState
  var expectations = Expectations<Expected, JSONValue>()

  @ObservationIgnored let link: DaemonLink
  /// The newest speed that waits until the one before was answered.
  @ObservationIgnored private var nextSpeed: Int?
  @ObservationIgnored private var isSendingSpeed = false

  init(_ state: PumpState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  /// Whether the pump is shown as on: what was asked for until the daemon says so, at most 3 s, else what it says.
  public var isOn: Bool {
    expectations.shown(.isOn, reported: .bool(state.state == .on || state.state == .starting)) == .bool(true)
  }

  /// The speed that is shown, percent; `nil` if it is not known.
  public var speedPercent: Int? {
    let reported: JSONValue = state.speedPercent.map { .number(Double($0)) } ?? .null
    return expectations.shown(.speed, reported: reported).number.flatMap { Int(exactly: $0) }
  }

  /// Turns the pump on, at some speed or at its own. Sent once.
  public func turnOn(speedPercent: Int? = nil) async throws(ClientError) {
    if let speedPercent { try Self.check(speedPercent) }
    try await expecting(.bool(true), for: .isOn) { () throws(ClientError) in
      try await send("/api/pump/on", speedPercent.map { ["speedPercent": $0] } ?? [:])
    }
  }

  /// Turns the pump off. Tried again until the daemon answers, four times at most.
  public func turnOff() async throws(ClientError) {
    nextSpeed = nil
    try await expecting(.bool(false), for: .isOn) { () throws(ClientError) in
      try await send("/api/pump/off", kind: .makesSafe)
    }
  }

  /// Sets the speed of a pump that is on. While somebody drags a slider one request is under way; the next has the newest value.
  public func setSpeed(percent: Int) async throws(ClientError) {
    try Self.check(percent)
    nextSpeed = percent
    guard !isSendingSpeed else { return }
    isSendingSpeed = true
    defer { isSendingSpeed = false }
    while let speed = nextSpeed {
      nextSpeed = nil
      try await expecting(.number(Double(speed)), for: .speed) { () throws(ClientError) in
        try await send("/api/pump/speed", ["speedPercent": speed])
      }
    }
  }

  /// Turns the pump off until a reset. Tried again until the daemon answers, four times at most.
  public func emergencyStop() async throws(ClientError) {
    nextSpeed = nil
    try await send("/api/pump/e-stop", kind: .makesSafe)
  }

  /// Leaves a fault or an emergency stop.
  public func reset() async throws(ClientError) { try await send("/api/pump/reset") }

  /// The newest sessions.
  public func sessions() async throws(ClientError) -> [PumpSession] {
    struct Sessions: Decodable { var sessions: [PumpSession] }
    return try await look("/api/pump/sessions", as: Sessions.self).sessions
  }

  func take(_ state: PumpState) {
    self.state = state
    let isOn = state.state == .on || state.state == .starting
    expectations.reconcile(.isOn, with: .bool(isOn), at: link.clock.now)
    expectations.reconcile(
      .speed, with: state.speedPercent.map { .number(Double($0)) } ?? .null, at: link.clock.now)
  }

  private static func check(_ percent: Int) throws(ClientError) {
    guard (0...100).contains(percent) else {
      throw .invalid(field: "speedPercent", message: "expected 0…100 percent, got \(percent)")
    }
  }
}
