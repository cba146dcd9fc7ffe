@_spi(FromOutside) import Conversions
import Glibc

/// A terminal in raw mode, in which keys arrive at once and are not echoed. The earlier mode is restored when this value is destroyed.
public struct RawTerminal: ~Copyable {
  /// The terminal's descriptor, which is readable when keys wait.
  public let descriptor: Int32
  private let before: termios
  private var decoder: TerminalKeyDecoder

  /// Sets the terminal to raw mode. Returns `nil` if the descriptor is not a terminal.
  public init?(_ descriptor: Int32) {
    var settings = termios()
    guard isatty(descriptor) == 1, tcgetattr(descriptor, &settings) == 0 else { return nil }
    before = settings
    self.descriptor = descriptor
    decoder = TerminalKeyDecoder()
    cfmakeraw(&settings)
    // Output as usual: a newline still returns the carriage.
    settings.c_oflag = before.c_oflag
    tcsetattr(descriptor, TCSANOW, &settings)
  }

  deinit {
    var settings = before
    tcsetattr(descriptor, TCSANOW, &settings)
  }

  /// Returns the keys that were pressed since the last call, or `nil` if the terminal is gone. Blocks if none was pressed.
  public mutating func keys() -> [TerminalKey]? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? decoder.keys(bytes[..<count]) : nil
  }
}

/// A key that was pressed at a terminal.
public enum TerminalKey: Equatable, Sendable {
  /// A key that sends one byte: a letter, or a control character such as U+0003 for Ctrl-C.
  case character(Unicode.Scalar)
  /// A key that sends `ESC [` or `ESC O`, parameters such as `1;2`, and a final character, which is `A` to `D` for the arrows.
  case sequence(parameters: String, final: Unicode.Scalar)

  /// The digit on the key, or `nil` if the key is not a digit.
  public var digit: Int? {
    guard case .character(let scalar) = self, scalar >= "0", scalar <= "9" else { return nil }
    return Int(scalar.value) - 48
  }

  /// Whether the key ends an interactive command: q, Ctrl-C or Ctrl-D.
  public var quits: Bool {
    switch self {
    case .character("q"), .character("Q"), .character("\u{3}"), .character("\u{4}"): true
    case .character, .sequence: false
    }
  }
}

/// Decodes a terminal's bytes into keys. An escape sequence may arrive in pieces.
struct TerminalKeyDecoder {
  private enum State {
    case plain
    case escape
    /// The bytes `ESC [` or `ESC O` have been read, and these parameters since.
    case sequence([UInt8])
  }

  private var state = State.plain

  /// Returns the keys that end with these bytes.
  mutating func keys(_ bytes: some Sequence<UInt8>) -> [TerminalKey] { bytes.compactMap { key($0) } }

  private mutating func key(_ byte: UInt8) -> TerminalKey? {
    let scalar = Unicode.Scalar(byte)
    switch (state, scalar) {
    case (.plain, "\u{1B}"), (.escape, "\u{1B}"): state = .escape
    case (.plain, _): return .character(scalar)
    case (.escape, "["), (.escape, "O"): state = .sequence([])
    case (.escape, _):
      state = .plain
      return .character(scalar)
    case (.sequence(let parameters), _):
      // Parameters and intermediates go on; a byte from @ on ends the sequence.
      if byte < 0x40 {
        state = .sequence(parameters.count < 16 ? parameters + [byte] : parameters)
      } else {
        state = .plain
        return .sequence(parameters: String(decoding: parameters, as: UTF8.self), final: scalar)
      }
    }
    return nil
  }
}

/// The columns and rows of the terminal on standard output; 80 and 24 if they are unknown.
public struct TerminalSize: Equatable, Sendable {
  /// The number of columns.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// The present size; every call asks the terminal.
  public static var current: TerminalSize {
    var size = winsize()
    _ = ioctl(1, UInt(truncatingIfNeeded: TIOCGWINSZ), &size)
    return TerminalSize(
      width: size.ws_col > 0 ? Int(size.ws_col) : 80, height: size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}
