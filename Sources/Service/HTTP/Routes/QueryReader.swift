import WallTime

/// A query's values, checked.
public struct QueryReader: Sendable {
  private let values: [String: String]

  /// - Throws: 422 for a name that is not among `names`.
  public init(_ values: [String: String], names: [String]) throws(APIError) {
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      throw .validation(unknown, expected: "one of the parameters \(names.joined(separator: ", "))", got: "another one")
    }
    self.values = values
  }

  /// nil when it is not given. - Throws: 422.
  public func integer(_ name: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
    guard let text = values[name] else { return nil }
    guard let value = Int64(text), range.contains(value) else {
      let bound = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)…\(range.upperBound)"
      throw .validation(name, expected: "an integer, \(bound)", got: quoted(text))
    }
    return value
  }

  /// One of two words or more; nil when it is not given. - Throws: 422.
  public func word(_ name: String, among words: [String]) throws(APIError) -> String? {
    guard let text = values[name] else { return nil }
    guard words.contains(text) else {
      throw .validation(name, expected: words.joined(separator: " or "), got: quoted(text))
    }
    return text
  }

  /// The first whole second that is not before the instant, see `WallTimeText.instant`; nil when it is not given. - Throws: 422.
  public func instant(_ name: String) throws(APIError) -> WallInstant? {
    guard let text = values[name] else { return nil }
    do throws(WallTimeText.Expectation) {
      return try WallTimeText.instant(text)
    } catch {
      throw .validation(name, expected: error.words, got: quoted(text))
    }
  }

  /// From `since` to `until`, these where they are not given. - Throws: 422, when nothing lies between them, too.
  public func span(
    since: (_ until: WallInstant) -> WallInstant, until: WallInstant
  ) throws(APIError) -> Range<WallInstant> {
    let end = try instant("until") ?? until
    let start = try instant("since") ?? since(end)
    guard start < end else {
      throw .validation(
        "since", expected: "an instant before \(WallTimeText.text(end))", got: WallTimeText.text(start))
    }
    return start..<end
  }

  private func quoted(_ text: String) -> String { "\"\(text.prefix(40))\"" }
}
