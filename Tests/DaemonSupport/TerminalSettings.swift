import Foundation
import Testing

/// A terminal's settings; a descriptor that is none is an error.
package func terminalSettings(_ descriptor: Int32) throws -> termios {
  var settings = termios()
  try #require(tcgetattr(descriptor, &settings) == 0, "tcgetattr: \(String(cString: strerror(errno)))")
  return settings
}

extension termios {
  /// The flags in which it differs from other settings: `lflag 8a3b, was 8a30`.
  package func changes(since other: termios) -> [String] {
    [("iflag", c_iflag, other.c_iflag), ("oflag", c_oflag, other.c_oflag), ("lflag", c_lflag, other.c_lflag)].compactMap
    {
      $1 == $2 ? nil : "\($0) \(String($1, radix: 16)), was \(String($2, radix: 16))"
    }
  }
}
