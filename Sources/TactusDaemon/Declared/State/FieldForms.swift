// Forms of fields that only some documents have.

extension Field {
  /// Declares a list of plain values, such as `["Mon", "Thu"]`. The list appears in documents but not in metrics.
  public init<Value: Plain>(
    _ name: String, _ path: KeyPath<State, [Value]> & Sendable, when: FieldTelling = .always, _ meaning: String
  ) {
    self.init(FieldShape(name: name, meaning: meaning, when: when, content: .list(Value.form))) { state in
      .list(state[keyPath: path].map(\.plain))
    }
  }

  /// Declares a list of plain values that is null while it is unknown. The list appears in documents but not in
  /// metrics.
  public init<Value: Plain>(
    _ name: String, _ path: KeyPath<State, [Value]?> & Sendable, when: FieldTelling = .always, _ meaning: String
  ) {
    var form = Value.form
    form.mayBeNothing = true
    self.init(FieldShape(name: name, meaning: meaning, when: when, content: .list(form))) { state in
      state[keyPath: path].map { .list($0.map(\.plain)) } ?? .nothing
    }
  }

  /// The same field, which documents omit while its value is unknown instead of writing null.
  public var leftOutIfNil: Field {
    var field = self
    field.shape.isLeftOutIfNil = true
    return field
  }
}

extension Group {
  /// The same group, which documents omit while its part is absent instead of writing null.
  public var leftOutIfNil: Field<State> { field.leftOutIfNil }
}

extension Array {
  /// Returns the same fields without metrics.
  public func withoutMetrics<State>() -> [Field<State>] where Element == Field<State> {
    map { field in
      var field = field
      field.shape = field.shape.withoutMetrics
      return field
    }
  }
}

extension FieldShape {
  fileprivate var withoutMetrics: FieldShape {
    var shape = self
    switch content {
    case .value(var form):
      form.metric = .none
      shape.content = .value(form)
    case .group(let fields, let mayBeNothing):
      shape.content = .group(fields.map(\.withoutMetrics), mayBeNothing: mayBeNothing)
    case .items(var items):
      items.fields = items.fields.map(\.withoutMetrics)
      shape.content = .items(items)
    case .list, .counts: break
    }
    return shape
  }
}
