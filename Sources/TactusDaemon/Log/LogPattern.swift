@_spi(FromOutside) import Conversions
import Glibc
import Logging

/// The format of a log line in the notation of Python's logging module: `%(asctime)s - %(name)s - %(levelname)s -
/// %(message)s`, which the file of the original robot uses.
struct LogPattern: Equatable, Sendable {
  /// The fields that a line can have. Python's other attributes (`lineno`, `funcName` …) describe the place in the
  /// Python source that logged, which a daemon in Swift does not have.
  enum Field: String, CaseIterable, Sendable {
    /// The local time: `2026-02-03 04:05:06,123`.
    case asctime
    case levelname, name, message, processName
    /// The time in seconds since 1970 with decimals; `msecs` is its millisecond part.
    case created, msecs
    case levelno, process

    var isNumber: Bool { [.created, .msecs, .levelno, .process].contains(self) }
  }

  private enum Part: Equatable {
    case text(String)
    case field(Field, Layout)
  }

  /// The layout of one conversion: `%(levelname)-8s`, `%(msecs)03d`.
  struct Layout: Equatable {
    var isLeftAligned = false
    var isZeroFilled = false
    var width = 0
    var precision: Int?
    /// The conversion character `s`, `d` or `f`.
    var conversion: Character = "s"
  }

  let text: String
  private let parts: [Part]

  /// The expectation for error messages.
  static let expectation =
    "a line's format as Python's logging has it, with " + Field.allCases.map { "%(\($0))" }.joined(separator: ", ")

  /// Reads a pattern.
  ///
  /// - Returns: `nil` if the text has no field, an unknown field, a conversion other than `s` (or `d` and `f` for
  ///   numbers), a `%` that neither begins a field nor is doubled, or a line break.
  init?(_ text: String) {
    var parts: [Part] = []
    var rest = text[...]
    while let sign = rest.firstIndex(of: "%") {
      parts.append(.text(String(rest[..<sign])))
      rest = rest[sign...].dropFirst()
      if rest.first == "%" {
        parts.append(.text("%"))
        rest.removeFirst()
      } else {
        guard let field = Self.field(&rest) else { return nil }
        parts.append(field)
      }
    }
    parts.append(.text(String(rest)))
    let hasField = parts.contains { if case .field = $0 { true } else { false } }
    guard hasField, !text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
    (self.text, self.parts) = (text, parts)
    // The machine's time zone is read now: a confined process may not be able to.
    LogTime.readZone()
  }

  /// Reads a field such as `(levelname)-8s` at the beginning of the remaining text. Returns `nil` if the text does not begin with a valid field.
  private static func field(_ rest: inout Substring) -> Part? {
    guard rest.first == "(", let end = rest.firstIndex(of: ")"),
      let field = Field(rawValue: String(rest[..<end].dropFirst()))
    else { return nil }
    rest = rest[end...].dropFirst()
    var layout = Layout()
    func skip(_ sign: Character) -> Bool {
      guard rest.first == sign else { return false }
      rest.removeFirst()
      return true
    }
    func takeDigits() -> Substring {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest.dropFirst(digits.count)
      return digits
    }
    layout.isLeftAligned = skip("-")
    layout.isZeroFilled = skip("0")
    let width = takeDigits()
    guard width.count <= 3 else { return nil }
    layout.width = Int(width) ?? 0
    if skip(".") {
      let digits = takeDigits()
      guard digits.count <= 2 else { return nil }
      layout.precision = Int(digits) ?? 0
    }
    guard let conversion = rest.popFirst(), field.isNumber ? "sdf".contains(conversion) : conversion == "s" else {
      return nil
    }
    layout.conversion = conversion
    return .field(field, layout)
  }

  /// Returns a log line.
  ///
  /// - Parameters:
  ///   - message: the text for `%(message)s`, in one line.
  ///   - timestamp: the time as `WallClock.text` writes it.
  func line(level: Logger.Level, label: String, message: String, timestamp: String) -> String {
    let time = LogTime(timestamp)
    let fraction = Double("0." + timestamp.dropFirst(20).prefix(6)) ?? 0
    return parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let field, let layout):
        switch field {
        case .asctime: layout.shown("\(time.day) \(time.clock)," + timestamp.dropFirst(20).prefix(3))
        case .levelname: layout.shown(level.rawValue.uppercased())
        case .name: layout.shown(label)
        case .message: layout.shown(message)
        case .processName: layout.shown(DaemonProgram.current.name)
        case .created: layout.shown(Double(time.seconds) + fraction)
        case .msecs: layout.shown((fraction * 1000).rounded(.down))
        case .levelno: layout.shown(Double(level.number))
        case .process: layout.shown(Double(getpid()))
        }
      }
    }.joined()
  }
}

extension LogPattern.Layout {
  func shown(_ text: String) -> String { filled(precision.map { String(text.prefix($0)) } ?? text, with: " ") }

  func shown(_ number: Double) -> String {
    let text =
      switch conversion {
      case "d": "\(Int(saturating: number))"
      case "f": Self.fixed(number, decimals: precision ?? 6)
      default: number == number.rounded() ? "\(Int(saturating: number))" : "\(number)"
      }
    return filled(text, with: isZeroFilled && conversion != "s" ? "0" : " ")
  }

  private func filled(_ text: String, with sign: Character) -> String {
    let filling = String(repeating: isLeftAligned ? " " : sign, count: max(0, width - text.count))
    return isLeftAligned ? text + filling : filling + text
  }

  /// Returns a number with a fixed number of decimals, at most six.
  ///
  /// - Parameter number: the number, which must not be negative.
  private static func fixed(_ number: Double, decimals: Int) -> String {
    let places = min(decimals, 6)
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    let digits = "\(Int(saturating: (number * scale).rounded()))"
    let whole = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    return places == 0 ? whole : whole.dropLast(places) + "." + whole.suffix(places)
  }
}

extension Logger.Level {
  /// The number of the level in Python; a level that Python does not have is numbered between its neighbours.
  fileprivate var number: Int {
    switch self {
    case .trace: 5
    case .debug: 10
    case .info: 20
    case .notice: 25
    case .warning: 30
    case .error: 40
    case .critical: 50
    }
  }
}
