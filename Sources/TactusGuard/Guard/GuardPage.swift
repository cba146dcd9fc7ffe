import CTactusGuard
import Glibc
import Tactus

/// The page that a program and its guards share: the guard notes each of its safe-state writes there before it makes it.
///
/// It outlives a guard, so that the count goes on when another takes its place.
struct GuardPage {
  /// Close-on-exec; the guard inherits it by another number.
  let descriptor: Int32
  let stops: ExternalStops

  /// A new one, without any stop.
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

  /// The page behind a descriptor, or `nil` if there is none.
  static func map(_ descriptor: Int32) -> ExternalStops? {
    guard let page = tactus_guard_page_map(descriptor, ExternalStops.byteCount) else { return nil }
    return ExternalStops(memory: page) { tactus_guard_page_unmap($0, ExternalStops.byteCount) }
  }
}
