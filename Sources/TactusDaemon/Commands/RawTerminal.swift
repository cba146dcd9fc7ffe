import Glibc

/// A terminal in raw mode: keys arrive at once and unechoed. Restored when this value goes away.
public struct RawTerminal: ~Copyable {
  private let descriptor: Int32
  private let before: termios

  /// nil when the descriptor is no terminal.
  public init?(_ descriptor: Int32) {
    var settings = termios()
    guard isatty(descriptor) == 1, tcgetattr(descriptor, &settings) == 0 else { return nil }
    before = settings
    self.descriptor = descriptor
    cfmakeraw(&settings)
    // Output as usual: a newline still returns the carriage.
    settings.c_oflag = before.c_oflag
    tcsetattr(descriptor, TCSANOW, &settings)
  }

  deinit {
    var settings = before
    tcsetattr(descriptor, TCSANOW, &settings)
  }
}
