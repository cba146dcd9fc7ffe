import Service

extension Command {
  /// Declares a command whose parameters depend on each other: they are the keys of a struct, whose `check` reports
  /// contradictions.
  ///
  /// ```swift
  /// Command("speed", body: SpeedBody.self, "Sets the speed: a percentage or a duty.") { .setSpeed($0.speed) }
  /// ```
  ///
  /// - Parameters:
  ///   - name, scope, makesSafe, makesSafeIf, meaning: as for every command.
  ///   - body: the struct whose keys are the members of the request's body, in camel case.
  ///   - order: makes the order from the body.
  public init<Body: Settings>(
    _ name: String, scope: CommandScope = .control, makesSafe: Bool = false,
    makesSafeIf: (KeyPath<Order, Bool> & Sendable)? = nil, body: Body.Type, _ meaning: String,
    order: @escaping @Sendable (Body) -> Order
  ) {
    // Of several of which one must be given, the first stands for all.
    let mustBeGiven = Body().contradictions.first?.key
    let parameters = Body.keys.map { key in
      let isRequired = key.isRequired || key.name == mustBeGiven
      return ParameterDescription(
        name: key.member, kind: key.kind, unit: key.unit, meaning: key.meaning, isRequired: isRequired,
        standard: isRequired ? nil : key.standard)
    }
    self.init(name, scope: scope, makesSafe: makesSafe, makesSafeIf: makesSafeIf, meaning, parameters) {
      (body: inout JSONReader) throws(APIError) in
      var group = Body()
      try group.read(&body, Body.keys)
      if let wrong = group.contradictions.first {
        let member = Body.keys.first { $0.name == wrong.key }?.member ?? wrong.key
        throw APIError(.unprocessableContent, "VALIDATION", "\(member): \(wrong.message)", field: member)
      }
      return order(group)
    }
  }
}
