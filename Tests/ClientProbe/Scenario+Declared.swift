import Foundation
import TactusClient

extension Scenario {
  /// A stranger's system: `client-probe declared ADDRESS SYSTEM [COMMAND [NAME=NUMBER…]]`. Prints its description and what it says, calls the command,
  /// and then stops it. A command on an item of a list has the item's index before it, as in `1/strike`.
  func declared() async throws {
    let (name, command) = (rest[0], rest.dropFirst().first)
    model.start()
    try await see("\(name), with values") { model.declared.contains { $0.id == name && !$0.values.isEmpty } }
    guard let system = model.declared.first(where: { $0.id == name }) else { return }
    say("\(system.description.title): \(system.description.summary)")
    for field in system.description.fields {
      guard let value = system[field.name] else { throw Unexpected("no value of \(field.name)") }
      say("\(field.name) = \(value.text) \(field.unit)")
    }
    guard let command else { return }
    var parameters: [String: JSONValue] = [:]
    for argument in rest.dropFirst(2) {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      parameters[parts[0]] = Double(parts[1]).map(JSONValue.number) ?? .string(parts[1])
    }
    let parts = command.split(separator: "/").map(String.init)
    let (word, item) = (parts.last ?? command, parts.count == 2 ? Int(parts[0]) : nil)
    let before = system.values
    try await system.call(word, item: item, parameters)
    try await see("\(command) has changed something") { system.values != before }
    do {
      try await system.call(word, item: item, ["nothing": .null])
      throw Unexpected("a parameter that there is not was taken")
    } catch ClientError.invalid(let field, let message) {
      say("invalid: \(field): \(message)")
    }
    if system.description.stops ?? true {
      try await system.emergencyStop()
      say("stopped")
    }
  }
}
