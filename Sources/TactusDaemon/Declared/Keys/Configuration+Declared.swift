/// The configuration of a declared system as read from a file.
public struct DeclaredValues<System: DeviceSystem>: Sendable {
  /// The keys that keep their values while the program runs.
  public let wiring: System.Wiring
  /// The rules that the file gives.
  public let rules: System.Rules
}

extension Configuration {
  /// The configuration of a declared system, or of the first one if the file has several; `nil` if the file has none of
  /// the system's sections.
  public subscript<System: DeviceSystem>(_: System.Type) -> DeclaredValues<System>? {
    systems[ConfiguredSystem<System>.self].map { DeclaredValues(wiring: $0.wiring, rules: $0.rules) }
  }
}
