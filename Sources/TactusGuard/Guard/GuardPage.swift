import CTactusGuard
import Glibc
import Tactus

/// The page of memory that a program and its guards share. A guard notes each safe-state write there before it makes the write.
///
/// The page outlives a guard, so that the count continues when another guard takes its place.
struct GuardPage {
  /// The descriptor of the page. It is close-on-exec; the guard inherits it by another number.
  let descriptor: Int32
  let stops: ExternalStops

  /// Creates a page without any stop.
  init() throws(GuardError) {
    let file = tactus_guard_page_create(ExternalStops.byteCount)
    guard file >= 0 else { throw .notStarted(errno: -file) }
    guard let stops = Self.map(file) else {
      close(file)
      throw .notStarted(errno: errno)
    }
    descriptor = file
    self.stops = stops
  }

  /// Maps the page behind a descriptor. Returns `nil` if the descriptor cannot be mapped.
  static func map(_ descriptor: Int32) -> ExternalStops? {
    guard let page = tactus_guard_page_map(descriptor, ExternalStops.byteCount) else { return nil }
    return ExternalStops(memory: page) { tactus_guard_page_unmap($0, ExternalStops.byteCount) }
  }
}
