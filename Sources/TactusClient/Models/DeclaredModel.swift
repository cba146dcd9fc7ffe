import Foundation
import Observation

/// A system for which this client has no model of its own, made from the daemon's description: its fields, commands and settings.
@MainActor
@Observable
public final class DeclaredModel: SystemModel, Identifiable {
  typealias Expected = String

  /// The description of the system by the daemon.
  public private(set) var description: DeclaredSystem
  /// The state as last reported by the daemon, with one member for each field of the description.
  public private(set) var values: [String: JSONValue]
  var expectations = Expectations<Expected, JSONValue>()

  @ObservationIgnored let link: DaemonLink

  /// The name of the system, as in `/api/NAME`.
  public nonisolated let id: String

  init(_ description: DeclaredSystem, values: [String: JSONValue], link: DaemonLink) {
    id = description.name
    self.description = description
    self.values = values
    self.link = link
  }

  /// Returns the reported value of a field, or `nil` if it is unknown.
  public subscript(field: String) -> JSONValue? { values[field] }

  /// Returns the value for a control, such as a switch or a slider, that sets the parameter of a field's name: the requested value until the daemon
  /// confirms it, for at most 3 s, otherwise the reported one. `nil` if neither is known.
  public func shown(_ field: String) -> JSONValue? {
    let shown = expectations.shown(field, reported: values[field] ?? .null)
    return shown == .null ? values[field] : shown
  }

  /// Sends a command. One that can only make the system safer is repeated until the daemon answers, at most four times; any other is sent once.
  /// - Parameters:
  ///   - command: the command's `word`.
  ///   - index: the index of an item, from 0, for a command on an item of a list, or `nil` for a command of the system.
  ///   - parameters: the values of the parameters by name.
  /// - Throws: `ClientError.invalid`, without a request, for an unknown command, a negative index, or a parameter that is missing, unknown or out of
  ///   range.
  public func call(
    _ command: String, item index: Int? = nil, _ parameters: [String: JSONValue] = [:]
  ) async throws(ClientError) {
    let offered = description.commands.filter { $0.isOfItem == (index != nil) }
    guard let declared = offered.first(where: { $0.word == command }) else {
      let words = offered.map(\.word).joined(separator: ", ")
      let expected = words.isEmpty ? "no command \(index == nil ? "without" : "with") an index" : "one of \(words)"
      throw .invalid(field: "command", message: "expected \(expected), got \(command)")
    }
    if let index, index < 0 { throw .invalid(field: "index", message: "expected 0 or more, got \(index)") }
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
    let item = index.map { "/\($0)" } ?? ""
    let path = "\(Endpoint.path(of: id))\(item)/\(Endpoint.escaped(command))"
    let body = parameters.isEmpty && declared.parameters.isEmpty ? nil : try Caller.body(parameters)
    let request = ClientRequest("POST", path, body: body, kind: declared.makesSafe ? .makesSafe : .act)
    // A parameter of a command on an item is not a field of the system.
    let fields = index == nil ? Set(description.fields.map(\.name)) : []
    try await expecting(parameters.filter { fields.contains($0.key) }) { () throws(ClientError) in
      try await link.caller.call(request)
    }
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
    try await send("\(Endpoint.path(of: id))/settings", settings, method: "PUT")
  }

  /// Stops the system until a reset, if it drives anything. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    try await send("\(Endpoint.path(of: id))/e-stop", kind: .makesSafe)
  }

  /// Resets the system after an emergency stop or a fault.
  public func reset() async throws(ClientError) { try await send("\(Endpoint.path(of: id))/reset") }

  func receive(_ values: [String: JSONValue]) {
    self.values = values
    guard !expectations.isEmpty else { return }
    for (field, value) in values { expectations.reconcile(field, with: value, at: link.clock.now) }
  }

  func receive(_ description: DeclaredSystem) { self.description = description }

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
