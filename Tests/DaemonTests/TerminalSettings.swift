import Foundation
import Testing

/// A terminal's settings; a descriptor that is none is an error.
func terminalSettings(_ descriptor: Int32) throws -> termios {
  var settings = termios()
  try #require(tcgetattr(descriptor, &settings) == 0, "tcgetattr: \(String(cString: strerror(errno)))")
  return settings
}

extension termios {
  func hasFlags(of other: termios) -> Bool {
    c_lflag == other.c_lflag && c_iflag == other.c_iflag && c_oflag == other.c_oflag
  }
}
