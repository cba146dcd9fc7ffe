import Service
import TactusDaemon
import Video

extension Configuration {
  /// The camera, its encoder and its viewers.
  struct Video: FileSettings, Equatable {
    enum Source: String, Word {
      case auto
      case libcamera
      case v4l2
      case test
      case pipeline
    }
    enum Format: String, Word {
      case h264
    }
    enum Encoder: String, Word {
      case auto
      case v4l2h264enc
      case x264enc
      case openh264enc
    }

    var port: UInt16 = 8554
    var camera = Camera()
    var viewing = Viewing()
    var detector = Detector()
    /// It is `nil` if nothing is recorded.
    var recordFolder: String?
    var recordLimitMegabytes = 500
    /// Of `network`.
    var networkAddress = ""
    /// The file has a section `video`, not only one of the original program's `camera`.
    var isAskedFor = false
  }
}

extension Configuration.Video {
  struct Camera: Equatable {
    var source = Source.auto
    var device: String?
    var pipeline: String?
    /// Width and height.
    var resolution = [640, 480]
    var framesPerSecond: UInt16 = 30
    var format = Format.h264
    var encoder = Encoder.auto
    var bitsPerSecond: UInt32 = 2_000_000
    var keyFrameSeconds = 1.0
    var rotation: UInt16 = 0
  }

  struct Viewing: Equatable {
    var bindAddress: String?
    var user: String?
    var password: String?
    var passwordFile: String?
    var most: UInt16 = 16
    var picturesPerSecond: UInt8 = 10
    var drawsClock = false
  }

  struct Detector: Equatable {
    var model: String?
    var command: [String] = []
    var labelsFile: String?
    var side: UInt16 = 640
    var picturesPerSecond: UInt8 = 5
    var confidence = 0.25
    var overlap = 0.45
    var isAlwaysOn = false
  }

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "network.rtsp_port", \.port, in: 0...65535,
      "TCP port of the video stream, rtsp://HOST:PORT/stream; 0 takes any free one.")
    ofCamera
    ofViewing
    ofDetector
    Key(
      "video.record_dir", \.recordFolder, "Folder of recordings, which must exist; unless given there are none.")
    Key(
      "video.record_limit_mb", \.recordLimitMegabytes, in: 1...1_000_000, "Longest recording, in megabytes."
    ).reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofCamera: [Key<Self>] {
    Key(
      "camera.source", \.camera.source,
      "Where pictures come from: a libcamera camera, a V4L2 device, a test picture, GStreamer elements of camera.pipeline, "
        + "or the first of the first three that this machine has (auto). `tactus doctor` lists cameras."
    ).reloadable
    Key(
      "camera.device", \.camera.device,
      "The camera: /dev/video0, or libcamera's name of it. Unless given, the first that is found; not found, auto takes "
        + "another."
    ).reloadable
    Key(
      "camera.pipeline", \.camera.pipeline,
      "Of source pipeline: GStreamer elements that end in raw pictures, as gst-launch-1.0 takes them."
    ).reloadable
    Key(
      "camera.resolution", \.camera.resolution, as: .integers(count: 2, 16...8192),
      "Width and height in pixels, even, before the picture is rotated; a camera's own are scaled."
    ).reloadable
    Key("camera.framerate", \.camera.framesPerSecond, in: 1...240, "Most frames per second.").reloadable
    Key("camera.format", \.camera.format, "Encoding of the stream.")
    Key(
      "camera.encoder", \.camera.encoder,
      "The encoder: in hardware (v4l2h264enc), one of two in software, or the first of them that this machine has (auto)."
    ).reloadable
    Key("camera.bitrate", \.camera.bitsPerSecond, in: 10_000...100_000_000, "Bits per second.").reloadable
    Key(
      "camera.key_frame_s", \.camera.keyFrameSeconds, in: 0.1...60,
      "Seconds from one key frame to the next; a viewer who joins gets one of its own."
    ).reloadable
    Key("camera.rotation", \.camera.rotation, oneOf: [0, 90, 180, 270], "Degrees clockwise.").reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofViewing: [Key<Self>] {
    Key(
      "video.bind_address", \.viewing.bindAddress, as: .address,
      "Address of the RTSP port, and of RTP and RTCP over UDP. Unless given: network.bind_address.")
    Key(
      "video.user", \.viewing.user,
      "User of the RTSP stream, with video.password; unless given, whoever reaches the port may look.")
    Key(
      "video.password", \.viewing.password,
      "Password of that user, sent as a digest: ${NAME} takes it from the environment.")
    Key(
      "video.password_file", \.viewing.passwordFile, "File that holds the password, in place of video.password.")
    Key(
      "video.viewers", \.viewing.most, in: 1...100,
      "Viewers at a time, of RTSP and, counted apart, of the service's streams; one more is refused. Who does not play takes no place."
    ).reloadable
    Key(
      "video.mjpeg_rate_hz", \.viewing.picturesPerSecond, in: 1...30,
      "Most JPEG pictures per second of stream.mjpeg, in hertz."
    ).reloadable
    Key(
      "video.clock", \.viewing.drawsClock,
      "Draw a clock into the picture that programs can read, to measure how long a picture is under way."
    ).reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofDetector: [Key<Self>] {
    Key(
      "video.detector.model", \.detector.model,
      "The detector's model, a file of yours: ONNX with the output of YOLOv8, [1, 4 + classes, candidates]. Unless this or "
        + "video.detector.command is given nothing is detected.")
    Key(
      "video.detector.command", \.detector.command,
      "A detector of your own in place of tactus-detect: program and arguments; the model, where one is given, is the last of "
        + "them. Sources/Systems/Video/README.md says how it is spoken to.")
    Key(
      "video.detector.labels_file", \.detector.labelsFile,
      "File with the name of one class a line, in the model's order. Unless given: their numbers.")
    Key(
      "video.detector.input_px", \.detector.side, in: 32...1280,
      "Side of the square that the detector is given, in pixels: what the model was made for, a multiple of 32.")
    Key(
      "video.detector.rate_hz", \.detector.picturesPerSecond, in: 1...30,
      "Most pictures that it is given, in hertz."
    ).reloadable
    Key(
      "video.detector.confidence", \.detector.confidence, in: 0...1,
      "Boxes of less confidence are left out, a ratio."
    ).reloadable
    Key(
      "video.detector.overlap", \.detector.overlap, in: 0...1,
      "Two boxes of one class with more of their area in common, a ratio, are the same thing."
    ).reloadable
    Key(
      "video.detector.always", \.detector.isAlwaysOn,
      "Detect while nobody looks, too: the camera then always runs."
    ).reloadable
  }

  static let table: [ConfigKey] = keys.asTable()

  /// Whether this build has it: the trait `Video`.
  static var isThere: Bool {
    #if Video
      true
    #else
      false
    #endif
  }

  /// It is `nil` if the file has neither section, or only `camera` and this build has no video.
  init?(_ found: ConfigReader.Result) {
    let isAskedFor = found.sections.contains("video")
    guard isAskedFor || found.sections.contains("camera") && Self.isThere else { return nil }
    let given = GivenValues(values: found.values)
    self.init(given)
    self.isAskedFor = isAskedFor
    networkAddress = given.text("network.bind_address")
  }

  /// All but what is in files, and the detector's own program.
  var settings: VideoSettings {
    var settings = VideoSettings()
    settings.source =
      switch camera.source {
      case .auto: .automatic
      case .libcamera: .libcamera
      case .v4l2: .v4l2
      case .test: .test
      case .pipeline: .pipeline
      }
    settings.encoder = VideoEncoder.allCases.first { "\($0)" == camera.encoder.rawValue } ?? .automatic
    settings.device = camera.device ?? ""
    settings.pipeline = camera.pipeline ?? ""
    (settings.width, settings.height) = (UInt16(clamping: camera.resolution[0]), UInt16(clamping: camera.resolution[1]))
    settings.framesPerSecond = camera.framesPerSecond
    settings.bitsPerSecond = camera.bitsPerSecond
    settings.rotation = camera.rotation
    settings.keyFrameInterval = UInt16(
      saturating: max(1, (camera.keyFrameSeconds * Double(camera.framesPerSecond)).rounded()))
    settings.bindAddress = viewing.bindAddress ?? networkAddress
    settings.port = port
    settings.user = viewing.user ?? ""
    settings.password = viewing.password ?? ""
    settings.viewerLimit = viewing.most
    settings.picturesPerSecond = viewing.picturesPerSecond
    settings.drawsClock = viewing.drawsClock
    settings.detector.command = detector.command
    settings.detector.side = detector.side
    settings.detector.picturesPerSecond = detector.picturesPerSecond
    settings.detector.confidence = Float(detector.confidence)
    settings.detector.overlap = Float(detector.overlap)
    settings.detector.isAlwaysOn = detector.isAlwaysOn
    return settings
  }

  var recordLimitBytes: UInt64 { UInt64(clamping: recordLimitMegabytes) * 1_000_000 }

  /// Rules over more than one key.
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String, alone: Bool = false) {
      errors.append(places.error(file, key, message, alone: alone))
    }
    func report(_ property: PartialKeyPath<Self>, _ message: String, alone: Bool = false) {
      report(Self.name(of: property), message, alone: alone)
    }
    let settings = settings
    if !Self.isThere {
      report(
        "video", "expected no such section: this build has no video; `swift build --traits Video` makes one with it",
        alone: true)
    }
    if settings.source == .pipeline, settings.pipeline.isEmpty {
      report(\.camera.pipeline, "expected GStreamer elements while camera.source is pipeline, got nothing")
    }
    if settings.width % 2 + settings.height % 2 > 0 {
      report(\.camera.resolution, "expected even numbers, got [\(settings.width), \(settings.height)]", alone: true)
    }
    if settings.detector.side % 32 != 0 {
      report(\.detector.side, "expected a multiple of 32, got \(settings.detector.side)", alone: true)
    }
    if !settings.password.isEmpty, viewing.passwordFile != nil {
      report(\.viewing.passwordFile, "expected one of video.password and video.password_file, got both")
    }
    let hasPassword = !settings.password.isEmpty || viewing.passwordFile != nil
    if settings.user.isEmpty, hasPassword {
      report(
        settings.password.isEmpty ? \.viewing.passwordFile : \.viewing.password,
        "expected video.user with it, got none")
    } else if !settings.user.isEmpty, !hasPassword {
      report(\.viewing.user, "expected video.password or video.password_file with it, got none")
    }
    return errors
  }

  /// For people, one line.
  var summary: String {
    let settings = settings
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
