@_spi(FromOutside) import Conversions
import Glibc

/// The limit of open files of this process, and whether it is sufficient. Without a free descriptor no client can
/// connect.
struct DescriptorLimit: Error, CustomStringConvertible {
  /// The number of descriptors needed in addition to those that the systems have open. They are for connections, the
  /// last of which are reserved for callers that may stop, and for files that are open for a short time.
  static let spare = 24
  /// The number of descriptors that a lane opens in order to wait and to be woken.
  private static let ofALane = 3
  /// The least limit of open descriptors with which any configuration may start.
  static let least = 64

  let needed: Int
  let limit: Int

  var description: String {
    "expected at least \(needed) files that may be open, got \(limit): emergency stops might find no connection; raise the limit "
      + "(LimitNOFILE= of the service, `ulimit -n` of a shell)"
  }

  /// Raises the soft limit, which is 1,024 on most systems, to `count` or as far as the hard limit allows.
  ///
  /// - Returns: the limit in effect.
  @discardableResult
  static func raise(to count: Int) -> Int {
    let resource = __rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return .max }
    if limit.rlim_cur < rlim_t(clamping: count) {
      var raised = limit
      raised.rlim_cur = min(rlim_t(clamping: count), limit.rlim_max)
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Checks that the limit is at least `least`. Called before anything is opened.
  static func requireLeast() throws(DescriptorLimit) {
    let limit = raise(to: least)
    if limit < least { throw DescriptorLimit(needed: least, limit: limit) }
  }

  /// Checks that enough descriptors remain for connections. Called when all permanent files are open except those that
  /// the lanes will open.
  static func requireSpare(lanes: Int) throws(DescriptorLimit) {
    let (taken, limit) = (taken, raise(to: least))
    let needed = (taken ?? limit) + lanes * ofALane + spare
    if limit < needed { throw DescriptorLimit(needed: needed, limit: limit) }
  }

  /// The error to report if a file could not be opened for lack of a descriptor, or `nil` if a descriptor is free.
  static var shortage: DescriptorLimit? {
    guard taken == nil else { return nil }
    let limit = raise(to: least)
    return DescriptorLimit(needed: limit + spare, limit: limit)
  }

  /// The number of open files, or `nil` if no more can be opened.
  private static var taken: Int? {
    // The lowest free number is the number of descriptors in use.
    let next = dup(2)
    guard next >= 0 else { return nil }
    close(next)
    return Int(next)
  }
}
