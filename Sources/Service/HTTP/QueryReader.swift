/// A query's values, checked.
struct QueryReader {
  private let values: [String: String]

  /// - Throws: 422 for a name that is not among `names`.
  init(_ values: [String: String], names: [String]) throws(APIError) {
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      throw .validation(unknown, expected: "one of the parameters \(names.joined(separator: ", "))", got: "another one")
    }
    self.values = values
  }

  /// nil when it is not given. - Throws: 422.
  func integer(_ name: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
    guard let text = values[name] else { return nil }
    guard let value = Int64(text), range.contains(value) else {
      let bound = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)…\(range.upperBound)"
      throw .validation(name, expected: "an integer, \(bound)", got: "\"\(text.prefix(40))\"")
    }
    return value
  }
}
