import Service
import TactusDaemon

/// The state of the video.
public enum VideoWord: String, Word, Encodable {
  case down, idle, starting, running, failed
}

/// The state of the video, its reason and the remedy, as shown in the document and in the event of every change.
struct VideoWords: Encodable, Equatable {
  let state: VideoWord
  let reason: String
  @OrNull var wayOut: String?

  init(_ state: VideoSnapshot) {
    guard state.process.process != nil else {
      self.state = .down
      reason = "the video process does not run" + (state.process.cause.map { ": \($0)" } ?? "")
      _wayOut = OrNull(wrappedValue: "the daemon starts it again")
      return
    }
    if state.rtsp.port > 0, !state.rtsp.cause.isEmpty {
      (self.state, reason) = (.failed, state.rtsp.cause)
      _wayOut = OrNull(wrappedValue: "the video process is started again if it stays so")
      return
    }
    switch state.camera.phase {
    case .idle: (self.state, reason) = (.idle, "the camera is off: nobody watches")
    case .starting: (self.state, reason) = (.starting, "the camera starts")
    case .running: (self.state, reason) = (.running, "somebody watches")
    case .failed: (self.state, reason) = (.failed, state.camera.cause)
    }
    let advice: String? =
      if state.camera.phase == .failed {
        "the camera is tried again while there are viewers; `tactus doctor` lists the cameras"
      } else if !state.rtsp.cause.isEmpty {
        "RTSP is tried again by itself; free the port or set network.rtsp_port to another"
      } else {
        nil
      }
    _wayOut = OrNull(wrappedValue: advice)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.state == right.state && left.reason == right.reason && left.wayOut == right.wayOut
  }
}
