import Video

@testable import TactusDaemon
@testable import VideoDaemon

/// What a file says of the video.
struct VideoOfFile {
  let wiring: Video.Wiring
  let rules: Video.Rules
  /// Of the program.
  let address: String

  var settings: VideoSettings { VideoSettings(wiring, rules, address: address) }
  var summary: String { Video.summary(wiring, rules, address: address).joined(separator: "\n") }
}

extension Configuration {
  /// `nil` if the file has neither a section `camera` nor `video`.
  var video: VideoOfFile? {
    self[Video.self].map { VideoOfFile(wiring: $0.wiring, rules: $0.rules, address: bindAddress) }
  }
}
