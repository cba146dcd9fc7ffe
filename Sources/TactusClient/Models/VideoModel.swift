import Foundation
import Observation

/// The camera: its state, and the addresses of its picture.
@MainActor
@Observable
public final class VideoModel: SystemModel {
  enum Expected: Hashable {}

  /// The camera as the daemon last said it.
  public private(set) var state: VideoState
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink
  @ObservationIgnored private let endpoint: Endpoint

  init(_ state: VideoState, link: DaemonLink, endpoint: Endpoint) {
    self.state = state
    self.link = link
    self.endpoint = endpoint
  }

  /// The RTSP stream: `rtsp://pi.local:8554/stream`. `nil` while it is not served. AVPlayer plays no RTSP; a library such as VLCKit does.
  public var rtspURL: URL? {
    guard state.rtsp.listening, let port = state.rtsp.port else { return nil }
    return URL(string: "rtsp://\(endpoint.bracketedHost):\(port)\(state.rtsp.path)")
  }

  /// JPEG pictures without end, as an `<img>` of a web view shows them. It asks for the token in the header `authorization`.
  public var mjpegURL: URL? { endpoint.url("/api/video/stream.mjpeg") }

  /// Fragmented MP4 without end. It asks for the token in the header `authorization`.
  public var mp4URL: URL? { endpoint.url("/api/video/stream.mp4") }

  /// One picture, taken now. It asks for the token in the header `authorization`.
  public var snapshotURL: URL? { endpoint.url("/api/video/snapshot.jpg") }

  /// The header that these addresses ask for, where the daemon asks for a token; never a part of an address.
  public var authorization: (name: String, value: String)? {
    link.caller.token.map { ("Authorization", "Bearer \($0)") }
  }

  /// One picture, JPEG.
  public func snapshot() async throws(ClientError) -> Data {
    try await link.caller.call(ClientRequest("GET", "/api/video/snapshot.jpg", kind: .look))
  }

  /// Begins a recording in the daemon's folder of recordings.
  public func record() async throws(ClientError) { try await send("/api/video/record") }

  /// Ends the recording.
  public func stopRecording() async throws(ClientError) { try await send("/api/video/record/stop", kind: .makesSafe) }

  func take(_ state: VideoState) { self.state = state }
}
