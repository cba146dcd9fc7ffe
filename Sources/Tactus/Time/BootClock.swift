#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The clock that continues from one start of a program to the next, for limits that hold over restarts.
///
/// Loops and machines receive such an instant from their caller, as they receive every instant: code that reads this clock cannot be simulated.
public enum BootClock {
  /// The time since the machine started, including the time in which it slept. The value may be read from any thread. Instants
  /// of different boots cannot be compared.
  public static var now: TickInstant {
    var now = timespec()
    #if canImport(Glibc)
      clock_gettime(CLOCK_BOOTTIME, &now)
    #else
      clock_gettime(CLOCK_MONOTONIC, &now)
    #endif
    return TickInstant(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
  }

  /// The identifier of the machine's present boot, or `nil` if the kernel does not report one. Reading it opens a file, so read it once.
  public static var boot: BootID? {
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return BootID(String(decoding: bytes[..<count].prefix { $0 > 32 }, as: UTF8.self))
  }
}

/// The identifier of one boot of the machine. Another identifier means that the machine lost its power or was restarted.
public struct BootID: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The identifier as the kernel writes it: a UUID in lower case.
  public let description: String

  /// Creates an identifier from one that was stored, such as text read from a file. Any text is accepted; equal texts are equal boots.
  public init(_ text: String) { description = text }

  public init(from decoder: any Decoder) throws { description = try decoder.singleValueContainer().decode(String.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
