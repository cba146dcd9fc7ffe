import Glibc

/// How many files this process may have open, and whether that is enough: where none is left, no client can connect.
struct DescriptorLimit: Error, CustomStringConvertible {
  /// Beyond what the systems have open: for connections, the last of which are for callers that may stop, and for what is opened and closed meanwhile.
  static let spare = 24
  /// What waits and wakes it.
  private static let ofALane = 3
  /// Fewer are not enough for any configuration.
  static let least = 64

  let needed: Int
  let limit: Int

  var description: String {
    "expected at least \(needed) files that may be open, got \(limit): emergency stops might find no connection; raise the limit "
      + "(LimitNOFILE= of the service, `ulimit -n` of a shell)"
  }

  /// Raises the soft limit, 1,024 on most systems, as far as the hard one allows.
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

  /// Before anything is opened.
  static func requireLeast() throws(DescriptorLimit) {
    let limit = raise(to: least)
    if limit < least { throw DescriptorLimit(needed: least, limit: limit) }
  }

  /// When everything is open that stays so, but for what so many lanes will open: what is left for connections must be enough.
  static func requireSpare(lanes: Int) throws(DescriptorLimit) {
    let (taken, limit) = (taken, raise(to: least))
    let needed = (taken ?? limit) + lanes * ofALane + spare
    if limit < needed { throw DescriptorLimit(needed: needed, limit: limit) }
  }

  /// What there is to say when something could not be opened for want of a descriptor, or `nil` if there is one.
  static var shortage: DescriptorLimit? {
    guard taken == nil else { return nil }
    let limit = raise(to: least)
    return DescriptorLimit(needed: limit + spare, limit: limit)
  }

  /// How many files are open, or `nil` if no more can be.
  private static var taken: Int? {
    // The lowest number that is free.
    let next = dup(2)
    guard next >= 0 else { return nil }
    close(next)
    return Int(next)
  }
}
