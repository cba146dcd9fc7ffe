@_spi(FromOutside) import Conversions
import Logging
import Video

/// Writes the noteworthy reports of the video process to the log.
// Safe: one thread uses it.
final class VideoLog: @unchecked Sendable {
  private let logger: Logger
  private var failure: String?
  private var hasToldOfWebRTC = false
  private var detection: (phase: VideoDetection.Phase, cause: String)?

  init(_ logger: Logger) { self.logger = logger }

  func note(_ report: VideoReport) {
    func line(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
      logger.log(level: level, message, metadata: metadata)
    }
    switch report {
    case .choice(let choice):
      line(
        .info, "camera and encoder",
        [
          "source": .string(choice.source), "why": .string(choice.sourceReason), "encoder": .string(choice.encoder),
          "why_encoder": .string(choice.encoderReason),
        ])
    case .camera(let camera):
      switch camera.phase {
      case .failed:
        // A repeated failure with the same cause is logged once.
        if camera.cause != failure {
          line(.warning, "no picture; tried again while there are viewers", ["reason": .string(camera.cause)])
        }
        failure = camera.cause
      case .running:
        line(failure == nil ? .info : .notice, failure == nil ? "the camera runs" : "the camera runs again", [:])
        failure = nil
      case .idle: line(.info, "the camera rests: no viewers", [:])
      case .starting: break
      }
    case .rtsp(let rtsp):
      if rtsp.port > 0, rtsp.cause.isEmpty {
        line(.info, "serving RTSP", ["port": .stringConvertible(Int(rtsp.port)), "path": "/stream"])
      } else {
        line(.error, "no RTSP; tried again", ["reason": .string(rtsp.cause)])
      }
    case .detection(let detection) where detection.phase != .starting:
      guard self.detection.map({ $0 != (detection.phase, detection.cause) }) ?? true else { return }
      self.detection = (detection.phase, detection.cause)
      if detection.phase == .failed {
        line(.warning, "no detector; started again while there are pictures", ["reason": .string(detection.cause)])
      } else {
        line(.info, "the detector answers", ["ms": .stringConvertible(Int(clamping: detection.duration / 1_000_000))])
      }
    case .recording(let recording) where recording.phase != .running:
      line(
        recording.phase == .failed ? .error : .info, "recording",
        [
          "state": .string("\(recording.phase)"), "file": .string(recording.path),
          "bytes": .stringConvertible(Int(clamping: recording.bytes)), "reason": .string(recording.cause),
        ])
    case .ended(_, let end) where end.kind == .unavailable && !hasToldOfWebRTC:
      hasToldOfWebRTC = true
      line(.warning, "no WebRTC; the page shows MP4", ["reason": .string(end.reason)])
    default: break
    }
  }
}
