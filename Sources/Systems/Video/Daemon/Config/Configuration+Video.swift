import Service
import TactusDaemon
import Wire

extension Configuration {
  /// The camera, its encoder and its viewers.
  struct Video: Equatable, Sendable {
    /// All but what is in files, and the detector's own program.
    var settings: VideoSettings
    var passwordFile: String?
    var model: String?
    var labelsFile: String?
    /// nil: nothing is recorded.
    var recordFolder: String?
    var recordLimitBytes: UInt64
    /// The file has a section `video`, not only one of the original program's `camera`.
    var isAskedFor: Bool
  }
}

extension Configuration.Video {
  /// Whether this build has it: the trait `Video`.
  static var isThere: Bool {
    #if Video
      true
    #else
      false
    #endif
  }

  /// nil: the file has neither section, or only `camera` and this build has no video.
  init?(_ found: ConfigReader.Result) {
    let isAskedFor = found.sections.contains("video")
    guard isAskedFor || found.sections.contains("camera") && Self.isThere else { return nil }
    let given = GivenValues(values: found.values)
    var settings = VideoSettings()
    // The table lists exactly these words.
    settings.source =
      [
        "auto": .automatic, "libcamera": .libcamera, "v4l2": .v4l2, "test": .test, "pipeline": .pipeline,
      ][given.text("camera.source")]!
    settings.encoder = VideoEncoder.allCases.first { "\($0)" == given.text("camera.encoder") } ?? .automatic
    settings.device = given.optionalText("camera.device") ?? ""
    settings.pipeline = given.optionalText("camera.pipeline") ?? ""
    let size = given.optionalIntegers("camera.resolution")!
    settings.width = UInt16(size[0])
    settings.height = UInt16(size[1])
    settings.framesPerSecond = UInt16(given.integer("camera.framerate"))
    settings.bitsPerSecond = UInt32(given.integer("camera.bitrate"))
    settings.rotation = UInt16(given.text("camera.rotation"))!
    settings.keyFrameInterval = UInt16(
      max(1, (given.number("camera.key_frame_s") * Double(settings.framesPerSecond)).rounded()))
    settings.bindAddress = given.optionalText("video.bind_address") ?? given.text("network.bind_address")
    settings.port = UInt16(given.integer("network.rtsp_port"))
    settings.user = given.optionalText("video.user") ?? ""
    settings.password = given.optionalText("video.password") ?? ""
    settings.viewerLimit = UInt16(given.integer("video.viewers"))
    settings.picturesPerSecond = UInt8(given.integer("video.mjpeg_rate_hz"))
    settings.drawsClock = given.boolean("video.clock")
    settings.detector.command = given.texts("video.detector.command")
    settings.detector.side = UInt16(given.integer("video.detector.input_px"))
    settings.detector.picturesPerSecond = UInt8(given.integer("video.detector.rate_hz"))
    settings.detector.confidence = Float(given.number("video.detector.confidence"))
    settings.detector.overlap = Float(given.number("video.detector.overlap"))
    settings.detector.isAlwaysOn = given.boolean("video.detector.always")
    self.init(
      settings: settings, passwordFile: given.optionalText("video.password_file"),
      model: given.optionalText("video.detector.model"), labelsFile: given.optionalText("video.detector.labels_file"),
      recordFolder: given.optionalText("video.record_dir"),
      recordLimitBytes: UInt64(given.integer("video.record_limit_mb")) * 1_000_000, isAskedFor: isAskedFor)
  }

  /// Rules over more than one key.
  func errors(file: String, places: ConfigPlaces, servicePort: UInt16?) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    if !Self.isThere {
      report(
        "video", "expected no such section: this build has no video; `swift build --traits Video` makes one with it")
    }
    if settings.source == .pipeline, settings.pipeline.isEmpty {
      report("camera.pipeline", "expected GStreamer elements while camera.source is pipeline, got nothing")
    }
    if settings.width % 2 + settings.height % 2 > 0 {
      report("camera.resolution", "expected even numbers, got [\(settings.width), \(settings.height)]")
    }
    if settings.detector.side % 32 != 0 {
      report("video.detector.input_px", "expected a multiple of 32, got \(settings.detector.side)")
    }
    if !settings.password.isEmpty, passwordFile != nil {
      report("video.password_file", "expected one of video.password and video.password_file, got both")
    }
    let hasPassword = !settings.password.isEmpty || passwordFile != nil
    if settings.user.isEmpty != !hasPassword {
      report(
        settings.user.isEmpty ? "video.user" : "video.password",
        "expected both a user and a password or neither, got only a \(settings.user.isEmpty ? "password" : "user")")
    }
    if let servicePort, servicePort == settings.port, servicePort != 0 {
      report("network.rtsp_port", "expected another port than network.http_port, got \(servicePort) for both")
    }
    return errors
  }

  /// For people, one line.
  var summary: String {
    let source: String =
      switch settings.source {
      case .automatic: "the first camera found, or a test picture"
      case .libcamera: "a libcamera camera"
      case .v4l2: settings.device.isEmpty ? "/dev/video0" : settings.device
      case .test: "a test picture"
      case .pipeline: "elements of its own"
      }
    let host = settings.bindAddress.contains(":") ? "[\(settings.bindAddress)]" : settings.bindAddress
    let access =
      !settings.user.isEmpty
      ? "with a password" : isLoopback ? "no password" : "NO PASSWORD: whoever reaches it can look"
    return "video: \(source), \(settings.width)×\(settings.height) at \(settings.framesPerSecond) Hz, "
      + "rtsp://\(host):\(settings.port)/stream, \(access)"
  }

  private var isLoopback: Bool { Configuration.isLoopback(settings.bindAddress) }
}
