/// What waits for one viewer of a stream of fragments: bounded, and never a fragment that cannot be decoded.
///
/// A viewer begins with a key frame. One that falls behind loses everything up to the next key frame: what it then sees is of
/// now, and nothing waits for it.
public struct ViewerBacklog: Sendable {
  /// No more than this waits for a viewer, the initialisation aside.
  public let limitBytes: Int
  public private(set) var dropped: Int64 = 0
  /// Not taken yet.
  private var initialisation: [UInt8]?
  private var fragments: [[UInt8]] = []
  private var bytes = 0
  private var needsKey = true

  public init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Before the first fragment, and when the camera's format has changed: fragments of before are worth nothing then.
  public mutating func begin(_ initialisation: [UInt8]) {
    forget()
    self.initialisation = initialisation
  }

  public mutating func add(_ fragment: [UInt8], isKey: Bool) {
    if bytes + fragment.count > limitBytes { forget() }
    guard isKey || !needsKey, fragment.count <= limitBytes else {
      dropped += 1
      return
    }
    needsKey = false
    fragments.append(fragment)
    bytes += fragment.count
  }

  /// All of it, in order, or `nil` if nothing waits.
  public mutating func take() -> [UInt8]? {
    guard !fragments.isEmpty else { return nil }
    let taken = (initialisation ?? []) + fragments.joined()
    initialisation = nil
    fragments = []
    bytes = 0
    return taken
  }

  private mutating func forget() {
    dropped += Int64(fragments.count)
    fragments = []
    bytes = 0
    needsKey = true
  }
}
