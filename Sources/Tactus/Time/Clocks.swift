import CTactus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The runtime's clock for code outside loops, such as timeouts and ages of published data.
///
/// Loops and machines must use their tick's instant instead, since code that reads this clock cannot be simulated.
public enum MonotonicClock {
  /// The instant on CLOCK_MONOTONIC, the clock of every tick in real time. The value may be read from any thread; takes about 20 ns.
  public static var now: TickInstant { TickInstant(nanoseconds: tactus_monotonic_now()) }
}

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

/// The clock that stamps a record of a loop's actions. The record is for people and tests; a loop itself uses only its tick's instant.
public enum RecordClock: Sendable, Hashable, BitwiseCopyable {
  /// The instant of the tick: all actions of one tick have the same stamp. It is the only clock in simulated time.
  case tick
  /// CLOCK_MONOTONIC when the record is made: consecutive actions of one tick have consecutive stamps. It is for loops in real time.
  case monotonic

  /// Returns the stamp of a record made now, in a tick that began at `tick`.
  @_noLocks @_noAllocation
  public func stamp(inTickAt tick: TickInstant) -> TickInstant {
    switch self {
    case .tick: tick
    case .monotonic: TickInstant(nanoseconds: tactus_monotonic_now())
    }
  }
}
