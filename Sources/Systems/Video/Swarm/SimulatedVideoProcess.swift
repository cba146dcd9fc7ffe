import Tactus
import Video
import Wire

/// A video process in simulated time: the production rule of camera and encoder, a camera that works or not, and whatever a process may do
/// wrong. It looks four times a second.
struct SimulatedVideoProcess {
  private static let lookPeriod = Nanoseconds.milliseconds(250)
  /// From a start of the camera to its first frame.
  private static let cameraStart = Nanoseconds.milliseconds(400)

  let number: Int32
  let startedAt: TickInstant
  /// Since when it has said nothing although it runs, or `nil` if it speaks.
  private(set) var silentSince: TickInstant?
  /// When it has begun to talk nonsense.
  private(set) var nonsenseSince: TickInstant?
  /// When it was told to end at once.
  private(set) var killedAt: TickInstant?
  /// When it ends, if it has been killed or has crashed.
  private(set) var endsAt = TickInstant.distantFuture
  private(set) var lastFrame: TickInstant?
  private(set) var isWanted = false
  private(set) var recording: String?
  private var frames: UInt64 = 0
  private var capture = CaptureMachine()
  private var cameraSince: TickInstant?
  private var isCameraTold = false
  private var nextLook: TickInstant
  private var looks: UInt64 = 0
  /// What the daemon has not read.
  private var said: [UInt8] = []

  init(_ number: Int32, at now: TickInstant) {
    (self.number, startedAt, nextLook) = (number, now, now + Self.lookPeriod)
    said = VideoReport.hello.bytes
  }

  /// Whether it does what it should.
  var isHealthy: Bool { silentSince == nil && nonsenseSince == nil && killedAt == nil && endsAt == .distantFuture }
  /// When `look` has something to do.
  var nextAt: TickInstant { silentSince == nil && !isOver ? nextLook : .distantFuture }
  /// When `end` is due.
  var overAt: TickInstant { isOver ? .distantFuture : endsAt }
  /// It has ended, and nobody has been told yet.
  private(set) var isOver = false

  // MARK: What is done to it

  mutating func hang(at now: TickInstant) { silentSince = silentSince ?? now }

  mutating func talkNonsense(at now: TickInstant) {
    guard silentSince == nil, nonsenseSince == nil else { return }
    nonsenseSince = now
    // A length that no message has.
    said += [0xFF, 0xFF, 0xFF, 0xFF]
  }

  mutating func crash(at now: TickInstant) { endsAt = min(endsAt, now) }

  /// SIGKILL, which a driver that hangs holds up.
  mutating func kill(at now: TickInstant, driverHangsUntil: TickInstant) {
    guard killedAt == nil else { return }
    killedAt = now
    endsAt = min(endsAt, max(now + .milliseconds(1), driverHangsUntil))
  }

  mutating func take(_ order: VideoOrder, at now: TickInstant) {
    guard silentSince == nil, killedAt == nil else { return }
    switch order {
    case .want(let fragments, let pictures):
      isWanted = fragments || pictures
      step(.wanted(isWanted), at: now)
    case .record(let path, _):
      recording = path
      say(.recording(VideoRecording(.running, path: path)))
    case .stopRecording:
      guard let path = recording else { return }
      recording = nil
      say(.recording(VideoRecording(.stopped, path: path, bytes: 1)))
    case .settings, .listCameras: break
    }
  }

  // MARK: Time

  mutating func end() { isOver = true }

  /// - Parameter isCameraThere: whether frames come of a camera that runs.
  mutating func look(at now: TickInstant, isCameraThere: Bool) {
    nextLook = now + Self.lookPeriod
    looks += 1
    if isCameraThere, let cameraSince, now - cameraSince >= Self.cameraStart {
      lastFrame = now
      frames += 1
      step(.frames, at: now)
    }
    step(.time, at: now)
    guard looks % 2 == 0 else { return }
    var statistics = VideoStatistics()
    (statistics.frames, statistics.failures) = (frames, UInt64(clamping: max(0, capture.failures)))
    say(.statistics(statistics))
  }

  /// What the daemon reads.
  mutating func takeSaid() -> [UInt8] {
    defer { said = [] }
    return said
  }

  private mutating func step(_ event: CaptureMachine.Event, at now: TickInstant) {
    let before = phase
    switch capture.step(event, at: now) {
    case .none: break
    case .start: cameraSince = now
    case .stop: cameraSince = nil
    }
    if phase != before { say(.camera(VideoCameraState(phase))) }
  }

  private var phase: VideoCameraState.Phase {
    switch capture.state {
    case .idle: .idle
    case .starting: .starting
    case .running, .lingering: .running
    case .waiting: .failed
    }
  }

  private mutating func say(_ report: VideoReport) {
    if nonsenseSince == nil { said += report.bytes }
  }
}
