import Tactus
import Video
import Wire

/// A video process in simulated time, with the production rule for camera and encoder, a camera that works or fails, and the malfunctions
/// of a process. Its state advances four times a second.
struct SimulatedVideoProcess {
  private static let lookPeriod = Nanoseconds.milliseconds(250)
  /// The time from a start of the camera to its first frame.
  private static let cameraStart = Nanoseconds.milliseconds(400)

  let number: Int32
  let startedAt: TickInstant
  /// The instant since which the process has been silent although it runs, or `nil` if it sends reports.
  private(set) var silentSince: TickInstant?
  /// The instant at which the process began to send invalid bytes, or `nil` if it has not.
  private(set) var nonsenseSince: TickInstant?
  /// The instant at which the process was killed, or `nil` if it has not been.
  private(set) var killedAt: TickInstant?
  /// The instant at which the process ends if it has been killed or has crashed; otherwise the distant future.
  private(set) var endsAt = TickInstant.distantFuture
  private(set) var lastFrame: TickInstant?
  private(set) var isWanted = false
  private(set) var recording: String?
  private var frames: UInt64 = 0
  private var capture = CaptureMachine()
  private var cameraSince: TickInstant?
  private var nextLook: TickInstant
  private var looks: UInt64 = 0
  /// The bytes that the daemon has not read yet.
  private var said: [UInt8] = []

  init(_ number: Int32, at now: TickInstant) {
    (self.number, startedAt, nextLook) = (number, now, now + Self.lookPeriod)
    said = VideoReport.hello.bytes
  }

  /// Whether the process works without a malfunction.
  var isHealthy: Bool { silentSince == nil && nonsenseSince == nil && killedAt == nil && endsAt == .distantFuture }
  /// The instant at which `advance` is due.
  var nextAt: TickInstant { silentSince == nil && !isOver ? nextLook : .distantFuture }
  /// The instant at which `end` is due.
  var overAt: TickInstant { isOver ? .distantFuture : endsAt }
  /// Whether the process has ended and the daemon has not been told yet.
  private(set) var isOver = false

  // MARK: What is done to it

  mutating func hang(at now: TickInstant) { silentSince = silentSince ?? now }

  mutating func talkNonsense(at now: TickInstant) {
    guard silentSince == nil, nonsenseSince == nil else { return }
    nonsenseSince = now
    // The bytes announce a length that no message has.
    said += [0xFF, 0xFF, 0xFF, 0xFF]
  }

  mutating func crash(at now: TickInstant) { endsAt = min(endsAt, now) }

  /// Kills the process with SIGKILL, which takes effect only after a hanging driver returns.
  mutating func kill(at now: TickInstant, driverHangsUntil: TickInstant) {
    guard killedAt == nil else { return }
    killedAt = now
    endsAt = min(endsAt, max(now + .milliseconds(1), driverHangsUntil))
  }

  mutating func carryOut(_ order: VideoOrder, at now: TickInstant) {
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
    // The swarm has no viewers by WebRTC.
    case .settings, .listCameras, .open, .close, .waits: break
    }
  }

  // MARK: Time

  mutating func end() { isOver = true }

  /// Advances the process.
  ///
  /// - Parameter isCameraThere: whether a running camera delivers frames.
  mutating func advance(at now: TickInstant, isCameraThere: Bool) {
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

  /// Returns the bytes that the daemon reads, and clears them.
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
