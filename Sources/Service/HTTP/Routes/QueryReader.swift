@_spi(FromOutside) import Conversions
import WallTime

/// Reads and checks the values of a query.
public struct QueryReader: Sendable {
  private let values: [String: String]

  /// Takes the values of a query whose allowed parameters are `names`.
  ///
  /// - Throws: 422 for a parameter that is not among `names`.
  public init(_ values: [String: String], names: [String]) throws(APIError) {
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      throw .validation(unknown, expected: "one of the parameters \(names.joined(separator: ", "))", got: "another one")
    }
    self.values = values
  }

  /// Returns the integer, or `nil` if the parameter is not given.
  ///
  /// - Throws: 422 if the value is not an integer in `range`.
  public func integer(_ name: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
    guard let text = values[name] else { return nil }
    guard let value = Int64(text), range.contains(value) else {
      let bound = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)…\(range.upperBound)"
      throw .validation(name, expected: "an integer, \(bound)", got: quoted(text))
    }
    return value
  }

  /// Returns the value, or `nil` if the parameter is not given.
  ///
  /// - Throws: 422 if the value is not one of `words`.
  public func word(_ name: String, among words: [String]) throws(APIError) -> String? {
    guard let text = values[name] else { return nil }
    guard words.contains(text) else {
      throw .validation(name, expected: words.joined(separator: " or "), got: quoted(text))
    }
    return text
  }

  /// Returns the address of the page, to which the caller appends a text, or `nil` if the parameter is not given.
  ///
  /// - Throws: 422 if the value is not an address by the rule of `PageAddress`.
  public func page(_ name: String, atMost greatestLength: Int) throws(APIError) -> String? {
    guard let text = values[name] else { return nil }
    guard PageAddress.isOne(text, atMost: greatestLength) else {
      throw .validation(name, expected: PageAddress.rule(atMost: greatestLength), got: quoted(text))
    }
    return text
  }

  /// Returns the instant, rounded up to a whole second (see `WallTimeText.instant`), or `nil` if the parameter is not given.
  ///
  /// - Throws: 422 if the value is not an instant.
  public func instant(_ name: String) throws(APIError) -> WallInstant? {
    guard let text = values[name] else { return nil }
    do throws(WallTimeText.Expectation) {
      return try WallTimeText.instant(text)
    } catch {
      throw .validation(name, expected: error.words, got: quoted(text))
    }
  }

  /// Returns the time from the parameter `since` to the parameter `until`; the arguments are used for a parameter that is not given.
  ///
  /// - Throws: 422 if a value is not an instant, or if the start is not before the end.
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
