import Service
import Wire

/// What a list of fields makes of a state: JSON, telemetry, metrics. Any thread.
public struct StateDocument<State>: Sendable {
  let system: String
  let fields: [Field<State>]
  let shapes: [FieldShape]

  /// - Parameters:
  ///   - system: the name that metrics begin with, behind `tactus_`.
  ///   - fields: in the order of the documents; two with one name trap.
  public init(of system: String, _ fields: [Field<State>]) {
    (self.system, self.fields) = (system, fields)
    shapes = fields.map(\.shape)
    let paths = shapes.leaves(nil).map(\.path)
    precondition(Set(paths).count == paths.count, "\(system): two fields of its state have one name")
  }

  /// The state as a JSON object.
  ///
  /// - Parameter first: members that stand before those of the fields.
  public func json(_ state: State, after first: [JSONValue.Member] = []) -> [UInt8] {
    JSONValue.object(first + shapes.members(values(of: state))).bytes
  }

  /// The same without what is in the state alone.
  public func telemetry(_ state: State) -> [UInt8] {
    JSONValue.object(shapes.members(values(of: state), isTelemetry: true)).bytes
  }

  /// A number or a yes or no is one sample, a word one sample for each word there is; text is no metric, and what is unknown is absent.
  public func write(_ state: State, into writer: inout MetricsWriter) {
    FieldMetrics([(labels: [], leaves: leaves(of: state))], of: system).write(into: &writer)
  }

  /// Each value of a state, with where it is.
  func leaves(of state: State) -> [FieldLeaf] { shapes.leaves(values(of: state)) }

  private func values(of state: State) -> [FieldValue] { fields.map { $0.read(state) } }
}
