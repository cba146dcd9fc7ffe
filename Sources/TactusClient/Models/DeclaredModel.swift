import Foundation
import Observation

/// A system that this client has no model of its own for, made from the daemon's description of it: every field, command and setting.
@MainActor
@Observable
public final class DeclaredModel: SystemModel, Identifiable {
  enum Expected: Hashable {}

  /// What the system is and has, as the daemon describes it.
  public private(set) var description: DeclaredSystem
  /// Its state as the daemon last said it: a member for each field of the description.
  public private(set) var values: [String: JSONValue]
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink

  /// Its name, as in `/api/NAME`.
  public nonisolated let id: String

  init(_ description: DeclaredSystem, values: [String: JSONValue], link: DaemonLink) {
    id = description.name
    self.description = description
    self.values = values
    self.link = link
  }

  /// A field's value; `nil` if it is not known.
  public subscript(field: String) -> JSONValue? { values[field] }

  /// Calls a command. What can only make the system safer is tried again until the daemon answers, four times at most; all else is sent once.
  /// - Throws: `ClientError.invalid` without sending anything, if there is no such command, or if a parameter is missing, unknown or out of its range.
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

  /// Changes settings while the daemon runs, until its next start.
  /// - Throws: `ClientError.invalid` without sending anything, if there is no such setting, or if it may not change or is out of its range.
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

  /// Stops the system until a reset, if it drives anything. Tried again until the daemon answers, four times at most.
  public func emergencyStop() async throws(ClientError) {
    try await send("/api/\(Endpoint.escaped(id))/e-stop", kind: .makesSafe)
  }

  /// Leaves an emergency stop or a fault.
  public func reset() async throws(ClientError) { try await send("/api/\(Endpoint.escaped(id))/reset") }

  func take(_ values: [String: JSONValue]) { self.values = values }

  func take(_ description: DeclaredSystem) { self.description = description }

  /// The daemon checks it again; this says it at once, beside the control.
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
