import Tactus
import TactusDaemon
import Video
import Wire

/// The protocol between the daemon and `tactus-video`.
public struct VideoTalk: ChildTalk {
  private var messages = VideoMessages()

  public init() {}

  public mutating func append(_ bytes: [UInt8]) { messages.append(bytes) }
  public mutating func next() throws(VideoMessageError) -> VideoReport? { try messages.nextReport() }
  public static func bytes(of order: VideoOrder) -> [UInt8] { order.bytes }
}

/// Passes the desk's orders to the video process. The child and the desk are set once, before either is used.
final class VideoOrders: @unchecked Sendable {
  // Safe: set while the system is made, by one thread.
  weak var child: Child<VideoTalk>?
  weak var desk: VideoDesk?

  /// Sends an order. The file of a recording is created here and passed as an open descriptor, because the video process cannot create
  /// files.
  func send(_ order: VideoOrder) {
    switch order {
    case .record(let path, _):
      child?.send(order, withNewFile: path) { [weak desk] reason in
        var recording = VideoRecording(.failed, path: path)
        recording.cause = reason
        desk?.receive(.recording(recording))
      }
    // The order follows the start of the recording that it ends.
    case .stopRecording: child?.sendBehindFiles(order)
    case .settings, .want, .listCameras, .open, .close, .waits: child?.send(order)
    }
  }

  func replace(_ settings: VideoSettings, told: @escaping @Sendable () -> Void) {
    guard let child else { return told() }
    child.replace(.settings(settings), told: told)
  }
}

extension VideoReport {
  /// Returns the report; if it says that the RTSP port is taken, the cause names the program that has it.
  ///
  /// - Parameter holder: the cause with the port's holder as found at the start, or `nil` if none was found.
  func naming(_ holder: String?) -> VideoReport {
    guard case .rtsp(var rtsp) = self, rtsp.port == 0, rtsp.cause.contains("port is taken"), let holder else {
      return self
    }
    rtsp.cause = holder
    return .rtsp(rtsp)
  }
}
