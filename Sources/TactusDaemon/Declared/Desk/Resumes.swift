import Store
import Tactus

/// A system some of whose fields outlive a restart: those that say `.kept`.
///
///     Field("step", \.step, "Number of the step.").kept
///     static func resume(_ state: inout State, _ kept: Kept) { state.step = kept.value("step") ?? 0 }
///
/// The newest published values are written when they change, every ten seconds at most, and at the end: a power cut loses ten seconds of them.
public protocol Resumes: DeviceSystem {
  /// Gives back what was kept, before the first tick: `state` is `initialState`, and becomes `mailbox.initialState`. What was never kept, or is
  /// of another kind now, is `nil`; nothing is called if nothing was.
  static func resume(_ state: inout State, _ kept: Kept)
}

/// What a system has kept over a restart, by the names of its fields.
public struct Kept: Sendable {
  let values: [String: StoredValue]

  /// The value of a field, or `nil` if none was kept, or if it is of another kind.
  public func value<Value: Plain>(_ name: String, as _: Value.Type = Value.self) -> Value? {
    let plain: PlainValue? =
      switch (values[name], Value.form.kind) {
      case (.integer(let value), .boolean): .boolean(value != 0)
      case (.integer(let value), _): .integer(Int(clamping: value))
      case (.real(let value), _): .number(value)
      case (.text(let value), _): .text(value)
      case (.nothing, _), (nil, _): nil
      }
    return plain.flatMap { Value($0) }
  }
}

extension StoredValue {
  init(_ plain: PlainValue) {
    self =
      switch plain {
      case .nothing: .nothing
      case .boolean(let value): .integer(value ? 1 : 0)
      case .integer(let value): .integer(Int64(value))
      case .number(let value): .real(value)
      case .text(let value): .text(value)
      }
  }
}
