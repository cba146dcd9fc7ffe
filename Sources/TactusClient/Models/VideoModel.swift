import Foundation
import Observation

/// The camera: its state, and the URLs of its pictures.
@MainActor
@Observable
public final class VideoModel: SystemModel {
  enum Expected: Hashable {}

  /// The camera's state as last reported by the daemon.
  public private(set) var state: VideoState
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink
  @ObservationIgnored private let endpoint: Endpoint

  init(_ state: VideoState, link: DaemonLink, endpoint: Endpoint) {
    self.state = state
    self.link = link
    self.endpoint = endpoint
  }

  /// The URL of the RTSP stream, such as `rtsp://pi.local:8554/stream`, or `nil` while it is not served. AVPlayer cannot play RTSP; VLCKit can.
  public var rtspURL: URL? {
    guard state.rtsp.listening, let port = state.rtsp.port else { return nil }
    return URL(string: "rtsp://\(endpoint.bracketedHost):\(port)\(state.rtsp.path)")
  }

  /// The URL of an endless sequence of JPEG pictures, as an `<img>` shows it. It requires `authorization` if the daemon requires a token.
  public var mjpegURL: URL? { endpoint.url("/api/video/stream.mjpeg") }

  /// The URL of an endless fragmented MP4 stream. It requires `authorization` if the daemon requires a token.
  public var mp4URL: URL? { endpoint.url("/api/video/stream.mp4") }

  /// The URL of one picture, taken at the request. It requires `authorization` if the daemon requires a token.
  public var snapshotURL: URL? { endpoint.url("/api/video/snapshot.jpg") }

  /// The header for requests to these URLs, which carries the token, or `nil` if there is none. No URL contains the token.
  public var authorization: (name: String, value: String)? {
    link.caller.token.map { ("Authorization", "Bearer \($0)") }
  }

  /// Returns one JPEG picture.
  public func snapshot() async throws(ClientError) -> Data {
    try await link.caller.call(ClientRequest("GET", "/api/video/snapshot.jpg", kind: .look))
  }

  /// Starts a recording in the daemon's folder of recordings.
  public func record() async throws(ClientError) { try await send("/api/video/record") }

  /// Ends the recording.
  public func stopRecording() async throws(ClientError) { try await send("/api/video/record/stop", kind: .makesSafe) }

  func receive(_ state: VideoState) { self.state = state }
}
