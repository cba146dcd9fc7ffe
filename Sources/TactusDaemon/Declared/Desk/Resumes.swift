@_spi(FromOutside) import Conversions
import Store
import Tactus

/// A protocol for a system with fields whose values are kept over a restart; these fields are marked `.kept`.
///
/// ```swift
/// Field("step", \.step, "Number of the step.").kept
/// static func resume(_ state: inout State, _ kept: Kept) { state.step = kept.value("step") ?? 0 }
/// ```
///
/// The newest published values are written when they change, at most every ten seconds, and at the end, so a crash or a power cut loses at most the
/// last ten seconds. A field that counts against a limit is marked `.keptAtOnce` and loses nothing.
public protocol Resumes: DeviceSystem {
  /// Restores the kept values before the first tick. `state` is `initialState` and becomes `mailbox.initialState`. A
  /// value that was never kept, or whose kind has changed since, is `nil`. The function is not called if no value was
  /// kept.
  static func resume(_ state: inout State, _ kept: Kept)
}

/// The values that a system has kept over a restart, by the names of the fields.
public struct Kept: Sendable {
  let values: [String: StoredValue]

  /// Returns the value of a field, or `nil` if no value was kept or the kept value is of another kind.
  public func value<Value: Plain>(_ name: String, as _: Value.Type = Value.self) -> Value? {
    guard let plain = values[name]?.value(as: Value.form.kind) else { return nil }
    return Value(plain)
  }
}

extension StoredValue {
  /// Creates the stored form of a value. A list and a value that is unknown have none.
  init(_ value: ConfigValue?) {
    self =
      switch value {
      case nil, .integers, .texts: .nothing
      case .boolean(let value): .integer(value ? 1 : 0)
      case .integer(let value): .integer(Int64(value))
      case .number(let value): .real(value)
      case .text(let value): .text(value)
      }
  }

  /// Returns the value for a key or a field of a kind, or `nil` if there is none. A value of another type stays what it is.
  func value(as kind: ConfigKind) -> ConfigValue? {
    switch (self, kind) {
    case (.nothing, _): nil
    case (.integer(let value), .boolean): .boolean(value != 0)
    case (.integer(let value), .number): .number(Double(value))
    case (.integer(let value), _): .integer(Int(clamping: value))
    case (.real(let value), _): .number(value)
    case (.text(let value), _): .text(value)
    }
  }
}
