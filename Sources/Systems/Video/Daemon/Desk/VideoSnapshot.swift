import Service
import Tactus
import TactusDaemon
import Video

/// The known state of the video process, its viewers, and the requests that wait for its answer.
struct VideoSnapshot: Sendable {
  var process = ChildReport()
  var choice: VideoChoice?
  var camera = VideoCameraState(.idle)
  var rtsp = VideoRTSPState(port: 0)
  var statistics = VideoStatistics()
  var recording: VideoRecording?
  var detection: (detection: VideoDetection, at: TickInstant)?
  /// Whether there is an answer of the detector that subscribers have not received.
  var hasNewObjects = false
  var initialisation: (codec: String, bytes: [UInt8])?
  var viewers: [Int: VideoViewer] = [:]
  var lastNumber = 0
  /// The number of fragments dropped for viewers that have left.
  var dropped: Int64 = 0
  var edges: [Event] = []
  var told: VideoWords?
  /// The sessions of WebRTC by their numbers.
  var sessions: [UInt64: WebRTCSeat] = [:]
  var cameraAskers: [(at: TickInstant, CheckedContinuation<[VideoCamera]?, Never>)] = []

  func count(_ kind: VideoViewer.Kind) -> Int { viewers.values.count { $0.kind == kind } }
  /// The viewers of the service, of all kinds.
  var watching: Int { viewers.count + sessions.count }
}
