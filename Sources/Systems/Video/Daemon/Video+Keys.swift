import Glibc
import TactusDaemon

extension Video {
  /// The settings that are fixed while the program runs.
  public struct Wiring: Settings, Equatable {
    enum Format: String, Word {
      case h264
    }
    struct Viewing: Equatable {
      var bindAddress: String?
      var user: String?
      var password: Secret?
    }
    struct Detector: Equatable {
      var model: String?
      var command: [String] = []
      var labelsFile: String?
      var side: UInt16 = 640
    }

    var port: UInt16 = 8554
    var format = Format.h264
    var viewing = Viewing()
    var detector = Detector()
    /// The folder for recordings, or `nil` if recording is not configured.
    var recordFolder: String?

    public init() {}

    public static var keys: [Key<Wiring>] {
      Key(
        "network.rtsp_port", \.port, in: 0...65535,
        "TCP port of the video stream, rtsp://HOST:PORT/stream; 0 takes any free one.")
      Key(
        "video.record_dir", \.recordFolder, as: .folder,
        "Folder of recordings, which must exist; unless given there are none.")
      Key("camera.format", \.format, "Encoding of the stream.")
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
        "video.detector.model", \.detector.model,
        "The detector's model, a file of yours: ONNX with the output of YOLOv8, [1, 4 + classes, candidates]. Unless this or "
          + "video.detector.command is given nothing is detected.")
      Key(
        "video.detector.command", \.detector.command,
        "A detector of your own in place of tactus-detect: program and arguments; the model, where one is given, is the last of "
          + "them. Sources/Systems/Video/README.md says how it is spoken to.")
      Key(
        "video.detector.labels_file", \.detector.labelsFile, as: .file,
        "File with the name of one class a line, in the model's order. Unless given: their numbers.")
      Key(
        "video.detector.input_px", \.detector.side, in: 32...1280,
        "Side of the square that the detector is given, in pixels: what the model was made for, a multiple of 32."
      )
      .checked {
        $0.detector.side % 32 == 0 ? nil : "expected a multiple of 32, got \($0.detector.side)"
      }
    }

    public func check(_ report: (PartialKeyPath<Wiring>, String) -> Void) {
      let hasUser = !(viewing.user ?? "").isEmpty
      if !hasUser, viewing.password != nil {
        report(\.viewing.password, "expected video.user with it, got none")
      } else if hasUser, viewing.password == nil {
        report(\.viewing.user, "expected video.password or video.password_file with it, got none")
      }
      // A folder that does not exist may be on a disk that is mounted later.
      var found = stat()
      if let recordFolder, stat(recordFolder, &found) == 0, found.st_mode & S_IFMT != S_IFDIR {
        report(\.recordFolder, "expected a folder, got something else at \(recordFolder)")
      }
    }
  }

  /// The settings that a reload may change.
  public struct Rules: Settings, Equatable {
    enum Source: String, Word {
      case auto
      case libcamera
      case v4l2
      case test
      case pipeline
    }
    enum Encoder: String, Word {
      case auto
      case v4l2h264enc
      case x264enc
      case openh264enc
    }
    struct Camera: Equatable {
      var source = Source.auto
      var device: String?
      var pipeline: String?
      /// The width and height of the picture in pixels.
      var resolution = [640, 480]
      var framesPerSecond: UInt16 = 30
      var encoder = Encoder.auto
      var bitsPerSecond: UInt32 = 2_000_000
      var lowestBitsPerSecond: UInt32?
      var slowestFramesPerSecond: UInt16 = 10
      var keyFrameSeconds = 1.0
      var rotation: UInt16 = 0
    }
    struct Viewing: Equatable {
      var most: UInt16 = 16
      var picturesPerSecond: UInt8 = 10
      var drawsClock = false
    }
    struct Detector: Equatable {
      var picturesPerSecond: UInt8 = 5
      var confidence = 0.25
      var overlap = 0.45
      var isAlwaysOn = false
    }

    var camera = Camera()
    var viewing = Viewing()
    var detector = Detector()
    var recordLimitMegabytes = 500

    public init() {}

    public static var keys: [Key<Rules>] {
      // The detector's keys come first, because they continue the mapping with which the fixed keys end.
      ofDetector
      ofCamera
      ofViewing
    }

    @DeclarationBuilder<Key<Rules>> private static var ofCamera: [Key<Rules>] {
      Key(
        "camera.source", \.camera.source,
        "Where pictures come from: a libcamera camera, a V4L2 device, a test picture, GStreamer elements of camera.pipeline, "
          + "or the first of the first three that this machine has (auto). `tactus doctor` lists cameras."
      )
      Key(
        "camera.device", \.camera.device,
        "The camera: /dev/video0, or libcamera's name of it. Unless given, the first that is found; not found, auto takes "
          + "another."
      ).found(by: .camera)
      Key(
        "camera.pipeline", \.camera.pipeline,
        "Of source pipeline: GStreamer elements that end in raw pictures, as gst-launch-1.0 takes them."
      )
      Key(
        "camera.resolution", \.camera.resolution, as: .integers(count: 2, 16...8192),
        "Width and height in pixels, even, before the picture is rotated; a camera's own are scaled."
      )
      .checked {
        $0.camera.resolution.allSatisfy { $0 % 2 == 0 } ? nil : "expected even numbers, got \($0.camera.resolution)"
      }
      Key("camera.framerate", \.camera.framesPerSecond, in: 1...240, "Most frames per second.")
      Key(
        "camera.min_framerate", \.camera.slowestFramesPerSecond, in: 1...240,
        "Frames per second that are left when a viewer's link takes little; camera.framerate or more: all of them."
      )
      Key(
        "camera.encoder", \.camera.encoder,
        "The encoder: in hardware (v4l2h264enc), one of two in software, or the first of them that this machine has (auto)."
      )
      Key(
        "camera.bitrate", \.camera.bitsPerSecond, in: 10_000...100_000_000,
        "Bits per second, as long as every viewer's link takes them.")
      Key(
        "camera.min_bitrate", \.camera.lowestBitsPerSecond, in: 10_000...100_000_000,
        "Bits per second that are left when a viewer's link takes less. Unless given: an eighth of camera.bitrate; the same: it never changes."
      )
      Key(
        "camera.key_frame_s", \.camera.keyFrameSeconds, in: 0.1...60,
        "Seconds from one key frame to the next; a viewer who joins gets one of its own."
      )
      Key("camera.rotation", \.camera.rotation, oneOf: [0, 90, 180, 270], "Degrees clockwise.")
    }

    @DeclarationBuilder<Key<Rules>> private static var ofViewing: [Key<Rules>] {
      Key(
        "video.record_limit_mb", \.recordLimitMegabytes, in: 1...1_000_000, "Longest recording, in megabytes."
      )
      Key(
        "video.viewers", \.viewing.most, in: 1...100,
        "Viewers at a time, of RTSP and, counted apart, of the service's streams; one more is refused. Who does not play takes no place."
      )
      Key(
        "video.mjpeg_rate_hz", \.viewing.picturesPerSecond, in: 1...30,
        "Most JPEG pictures per second of stream.mjpeg, in hertz."
      )
      Key(
        "video.clock", \.viewing.drawsClock,
        "Draw a clock into the picture that programs can read, to measure how long a picture is under way."
      )
    }

    @DeclarationBuilder<Key<Rules>> private static var ofDetector: [Key<Rules>] {
      Key(
        "video.detector.rate_hz", \.detector.picturesPerSecond, in: 1...30,
        "Most pictures that it is given, in hertz."
      )
      Key(
        "video.detector.confidence", \.detector.confidence, in: 0...1,
        "Boxes of less confidence are left out, a ratio."
      )
      Key(
        "video.detector.overlap", \.detector.overlap, in: 0...1,
        "Two boxes of one class with more of their area in common, a ratio, are the same thing."
      )
      Key(
        "video.detector.always", \.detector.isAlwaysOn,
        "Detect also while nobody is watching: the camera then always runs."
      )
    }

    public func check(_ report: (PartialKeyPath<Rules>, String) -> Void) {
      if let lowest = camera.lowestBitsPerSecond, lowest > camera.bitsPerSecond {
        report(
          \.camera.lowestBitsPerSecond,
          "expected at most camera.bitrate, which is \(camera.bitsPerSecond), got \(lowest)")
      }
      if camera.source == .pipeline, camera.pipeline ?? "" == "" {
        report(\.camera.pipeline, "expected GStreamer elements while camera.source is pipeline, got nothing")
      }
    }
  }
}
