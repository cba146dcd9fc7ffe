import Glibc

/// A terminal in raw mode, in which keys arrive at once and are not echoed. The earlier mode is restored when this value is destroyed.
public struct RawTerminal: ~Copyable {
  private let descriptor: Int32
  private let before: termios

  /// Sets the terminal to raw mode. Returns `nil` if the descriptor is not a terminal.
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
