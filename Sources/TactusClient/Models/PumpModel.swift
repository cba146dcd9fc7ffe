import Foundation
import Observation

/// The cooling pump: its state, and the commands to it.
@MainActor
@Observable
public final class PumpModel: SystemModel {
  enum Expected: Hashable {
    case isOn
    case speed
  }

  /// The pump's state as last reported by the daemon.
  public private(set) var state: PumpState
  var expectations = Expectations<Expected, JSONValue>()

  @ObservationIgnored let link: DaemonLink
  /// The newest speed, which waits for the answer to the previous request.
  @ObservationIgnored private var nextSpeed: Int?
  @ObservationIgnored private var isSendingSpeed = false

  init(_ state: PumpState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  /// Whether the pump is shown as on: the requested state until the daemon confirms it, for at most 3 s, otherwise the reported one.
  public var isOn: Bool {
    expectations.shown(.isOn, reported: .bool(state.state == .on || state.state == .starting)) == .bool(true)
  }

  /// The speed to show in percent, or `nil` if it is unknown.
  public var speedPercent: Int? {
    let reported: JSONValue = state.speedPercent.map { .number(Double($0)) } ?? .null
    return expectations.shown(.speed, reported: reported).number.flatMap { Int(exactly: $0) }
  }

  /// Turns the pump on, at a speed or at the pump's own. The request is sent once.
  public func turnOn(speedPercent: Int? = nil) async throws(ClientError) {
    if let speedPercent { try Self.check(speedPercent) }
    try await expecting([.isOn: .bool(true)]) { () throws(ClientError) in
      try await send("/api/pump/on", speedPercent.map { ["speedPercent": $0] } ?? [:])
    }
  }

  /// Turns the pump off. Repeats the request until the daemon answers, at most four times.
  public func turnOff() async throws(ClientError) {
    nextSpeed = nil
    try await expecting([.isOn: .bool(false)]) { () throws(ClientError) in
      try await send("/api/pump/off", kind: .makesSafe)
    }
  }

  /// Sets the speed of a pump that is on. While a slider is dragged one request is in flight; the next one carries the newest value.
  public func setSpeed(percent: Int) async throws(ClientError) {
    try Self.check(percent)
    nextSpeed = percent
    guard !isSendingSpeed else { return }
    isSendingSpeed = true
    defer { isSendingSpeed = false }
    while let speed = nextSpeed {
      nextSpeed = nil
      try await expecting([.speed: .number(Double(speed))]) { () throws(ClientError) in
        try await send("/api/pump/speed", ["speedPercent": speed])
      }
    }
  }

  /// Turns the pump off until a reset. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    nextSpeed = nil
    try await send("/api/pump/e-stop", kind: .makesSafe)
  }

  /// Resets the pump after a fault or an emergency stop.
  public func reset() async throws(ClientError) { try await send("/api/pump/reset") }

  /// Returns the newest sessions.
  public func sessions() async throws(ClientError) -> [PumpSession] {
    struct Sessions: Decodable { var sessions: [PumpSession] }
    return try await fetch("/api/pump/sessions", as: Sessions.self).sessions
  }

  /// Returns the temperatures and the speed of a span of the last 30 days.
  /// - Parameters:
  ///   - since: the start of the span, or `nil` for a day before its end. The minute counts.
  ///   - until: the end of the span, or `nil` for now.
  ///   - points: the greatest number of rows, 1…2000. Neighbours are merged.
  public func history(
    since: Date? = nil, until: Date? = nil, points: Int = 200
  ) async throws(ClientError) -> PumpHistory {
    let path = Self.path(
      "/api/pump/history",
      ["since": Self.text(since), "until": Self.text(until), "points": String(points)])
    return try await fetch(path, as: PumpHistory.self)
  }

  func receive(_ state: PumpState) {
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
