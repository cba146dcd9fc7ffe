import Foundation
import Observation

/// A system for which this client has no model of its own, made from the daemon's description: its fields, commands and settings.
@MainActor
@Observable
public final class DeclaredModel: SystemModel, Identifiable {
  enum Expected: Hashable {}

  /// The description of the system by the daemon.
  public private(set) var description: DeclaredSystem
  /// The state as last reported by the daemon, with one member for each field of the description.
  public private(set) var values: [String: JSONValue]
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink

  /// The name of the system, as in `/api/NAME`.
  public nonisolated let id: String

  init(_ description: DeclaredSystem, values: [String: JSONValue], link: DaemonLink) {
    id = description.name
    self.description = description
    self.values = values
    self.link = link
  }

  /// Returns the value of a field, or `nil` if it is unknown.
  public subscript(field: String) -> JSONValue? { values[field] }

  /// Sends a command. One that can only make the system safer is repeated until the daemon answers, at most four times; any other is sent once.
  /// - Throws: `ClientError.invalid`, without a request, for an unknown command, or a parameter that is missing, unknown or out of range.
  public func call(_ command: String, _ parameters: [String: JSONValue] = [:]) async throws(ClientError) {
    guard let declared = description.commands.first(where: { $0.name == command }) else {
      let names = description.commands.map(\.name).joined(separator: ", ")
      throw .invalid(field: "command", message: "expected one of \(names), got \(command)")
    }
    for name in parameters.keys.sorted() where !declared.parameters.contains(where: { $0.name == name }) {
      throw .invalid(field: name, message: "\(command) has no such parameter")
    }
    for parameter in declared.parameters {
      if let value = parameters[parameter.name] {
        try Self.check(value, parameter)
      } else if parameter.standard == nil {
        throw .invalid(field: parameter.name, message: "expected \(Self.expected(parameter)), got nothing")
      }
    }
    let path = "/api/\(Endpoint.escaped(id))/\(Endpoint.escaped(command))"
    let body = parameters.isEmpty && declared.parameters.isEmpty ? nil : try Caller.body(parameters)
    try await link.caller.call(ClientRequest("POST", path, body: body, kind: declared.makesSafe ? .makesSafe : .act))
  }

  /// Changes settings of the running daemon, until its next start.
  /// - Throws: `ClientError.invalid`, without a request, for a setting that is unknown, may not change at run time, or is out of range.
  public func set(_ settings: [String: JSONValue]) async throws(ClientError) {
    for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
      guard let declared = description.settings.first(where: { $0.name == name }) else {
        throw .invalid(field: name, message: "\(id) has no such setting")
      }
      guard declared.mayChange ?? false else {
        throw .invalid(field: name, message: "it may not change while the daemon runs")
      }
      try Self.check(value, declared)
    }
    try await send("/api/\(Endpoint.escaped(id))/settings", settings, method: "PUT")
  }

  /// Stops the system until a reset, if it drives anything. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    try await send("/api/\(Endpoint.escaped(id))/e-stop", kind: .makesSafe)
  }

  /// Resets the system after an emergency stop or a fault.
  public func reset() async throws(ClientError) { try await send("/api/\(Endpoint.escaped(id))/reset") }

  func take(_ values: [String: JSONValue]) { self.values = values }

  func take(_ description: DeclaredSystem) { self.description = description }

  /// Checks a value before the request. The daemon checks it again.
  private static func check(_ value: JSONValue, _ declared: DeclaredSystem.Value) throws(ClientError) {
    let isRight: Bool
    switch declared.type {
    case "number": isRight = value.number.map { isWithin($0, declared) } ?? false
    case "integer": isRight = value.number.map { $0 == $0.rounded() && isWithin($0, declared) } ?? false
    case "boolean": isRight = value.bool != nil
    case "string": isRight = value.string.map { declared.choices?.contains($0) ?? true } ?? false
    default: isRight = true
    }
    guard isRight else {
      throw .invalid(field: declared.name, message: "expected \(expected(declared)), got \(value.text)")
    }
  }

  private static func isWithin(_ value: Double, _ declared: DeclaredSystem.Value) -> Bool {
    value >= declared.minimum ?? -.infinity && value <= declared.maximum ?? .infinity
  }

  private static func expected(_ declared: DeclaredSystem.Value) -> String {
    if let choices = declared.choices { return "one of " + choices.joined(separator: ", ") }
    let range = [declared.minimum.map { "from \($0)" }, declared.maximum.map { "to \($0)" }].compactMap(\.self)
    return ([declared.type, declared.unit].filter { !$0.isEmpty } + range).joined(separator: " ")
  }
}
