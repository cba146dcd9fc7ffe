/// The mailboxes between a person, or the program that acts for one, and the loop of an operator: controls and requests go to the loop, and its
/// snapshots come from it.
///
/// One thread uses the functions. The loop gets its ends from `controls`, `requests` and `snapshots`.
public final class OperatorMailbox<Controls: BitwiseCopyable, Request: BitwiseCopyable, Snapshot: BitwiseCopyable> {
  /// The controls, of which the loop reads the newest at each tick.
  public let controls: Latest<Controls>
  /// The requests, each of which the loop takes once.
  public let requests: Ring<Request>
  /// The state of the loop at the end of its newest tick.
  public let snapshots: Latest<Snapshot>
  private let bell: DoorbellButton?
  private var controlsWriter: LatestWriter<Controls>
  private var requestWriter: RingWriter<Request>
  private var snapshotReader: LatestReader<Snapshot>

  /// Creates mailboxes for one loop.
  ///
  /// - Parameters:
  ///   - controls: the controls before the first `set`.
  ///   - snapshot: the snapshot before the loop's first tick.
  ///   - capacity: the number of requests that may wait, at least 1; rounded up to a power of two.
  ///   - bell: rung after each request, or `nil` if requests wait for the next tick; its doorbell must outlive this object.
  public init(_ controls: Controls, _ snapshot: Snapshot, capacity: Int, bell: DoorbellButton? = nil) {
    self.controls = Latest(controls)
    requests = Ring(capacity: capacity)
    snapshots = Latest(snapshot)
    self.bell = bell
    controlsWriter = self.controls.writer()
    requestWriter = requests.writer()
    snapshotReader = snapshots.reader()
  }

  /// The newest snapshot that the loop has published.
  public var newest: Snapshot { snapshotReader.read() }

  /// Sets the controls, which the loop sends from its next tick on.
  public func set(_ new: Controls) { controlsWriter.write(new) }

  /// Sends a request to the loop. Returns whether there was room; false means that `capacity` requests wait.
  @discardableResult
  public func ask(_ request: Request) -> Bool {
    guard requestWriter.push(request) else { return false }
    bell?.ring()
    return true
  }
}
