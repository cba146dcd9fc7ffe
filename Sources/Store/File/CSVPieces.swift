/// A list of the store as CSV (RFC 4180), in pieces: a header line, then some hundred lines per piece.
///
/// Unknown values are empty. Lines that are added or removed between two pieces neither repeat nor hide other lines.
public struct CSVPieces<Position: Sendable>: Sendable {
  /// Some lines and the position of the next ones, which is `nil` if there are no more lines.
  public typealias Page = (lines: [[String]], next: Position?)

  private enum Place {
    case header
    case lines(after: Position?)
    case end
  }

  private let columns: [String]
  private let page: @Sendable (Position?) throws(StoreError) -> Page
  private var place = Place.header

  /// Creates the CSV form of a list, which is read page by page.
  ///
  /// - Parameters:
  ///   - columns: the fields of the header line.
  ///   - page: returns the lines after a position, or the first ones for `nil`, as unquoted fields. A page without
  ///     lines ends the list.
  public init(columns: [String], page: @escaping @Sendable (Position?) throws(StoreError) -> Page) {
    self.columns = columns
    self.page = page
  }

  /// Returns the next piece, or `nil` after the last one.
  public mutating func next() throws(StoreError) -> String? {
    switch place {
    case .header:
      place = .lines(after: nil)
      return Self.line(columns)
    case .lines(let after):
      let page = try self.page(after)
      place = page.next.map { .lines(after: $0) } ?? .end
      return page.lines.isEmpty ? nil : page.lines.map(Self.line).joined()
    case .end: return nil
    }
  }

  private static func line(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

  private static func field(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}

extension String {
  /// A text of foreign origin as a cell of CSV that no spreadsheet takes for a formula: an apostrophe is put before a character
  /// that could begin a formula, as the Open Worldwide Application Security Project advises ("CSV Injection"). Numbers that this
  /// program writes keep their sign.
  public var csvText: String {
    guard let first = unicodeScalars.first, "=+-@\t\r\n＝＋－＠".unicodeScalars.contains(first) else { return self }
    return "'" + self
  }
}
