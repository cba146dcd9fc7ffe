import Service
import Wire

/// Makes JSON, telemetry and metrics from a state and a list of fields. Safe to use from any thread.
public struct StateDocument<State>: Sendable {
  let system: String
  let fields: [Field<State>]
  let shapes: [FieldShape]

  /// Creates the document of a system.
  ///
  /// - Parameters:
  ///   - system: the name that follows `tactus_` in the names of metrics.
  ///   - fields: the fields in the order of the documents; two fields with the same name trap.
  public init(of system: String, _ fields: [Field<State>]) {
    (self.system, self.fields) = (system, fields)
    shapes = fields.map(\.shape)
    let paths = shapes.leaves(nil).map(\.path)
    declared(Set(paths).count == paths.count, "\(system): two fields of its state have one name")
  }

  /// Returns the state as a JSON object.
  ///
  /// - Parameter first: the members that precede those of the fields.
  public func json(_ state: State, after first: [JSONValue.Member] = []) -> [UInt8] {
    JSONValue.object(first + shapes.members(values(of: state))).bytes
  }

  /// Returns the JSON object without the fields that only the state contains.
  public func telemetry(_ state: State) -> [UInt8] {
    JSONValue.object(shapes.members(values(of: state), isTelemetry: true)).bytes
  }

  /// Returns several states as a JSON list.
  public func json(_ states: [State]) -> [UInt8] {
    JSONValue.list(states.map { .object(shapes.members(values(of: $0))) }).bytes
  }

  /// Returns each item of each list, for links whose topics have levels.
  ///
  /// - Parameter name: the name of the system; a list whose items have the same name gets no topic level.
  public func parts(of state: State, in name: String) -> [StatePart] { shapes.parts(values(of: state), in: name) }

  /// Writes the metrics. A number or a boolean is one sample, and a word is one sample for each possible word. Text has
  /// no metric, and unknown values have no sample.
  public func write(_ state: State, into writer: inout MetricsWriter) {
    FieldMetrics([(labels: [], leaves: leaves(of: state))], of: system).write(into: &writer)
  }

  /// Returns each value of a state together with its path.
  func leaves(of state: State) -> [FieldLeaf] { shapes.leaves(values(of: state)) }

  func values(of state: State) -> [FieldValue] { fields.map { $0.read(state) } }
}

extension [FieldShape] {
  /// Returns each item of each list of a system.
  func parts(_ values: [FieldValue], in system: String) -> [StatePart] {
    zip(self, values).flatMap { shape, value -> [StatePart] in
      guard case .items(let items) = shape.content, case .items(let list) = value else { return [] }
      return list.enumerated().compactMap { index, values in
        items.item(index, values, of: shape.name).topic(of: system).map {
          StatePart($0, encoded: JSONValue.object(items.fields.members(values)).bytes)
        }
      }
    }
  }
}
