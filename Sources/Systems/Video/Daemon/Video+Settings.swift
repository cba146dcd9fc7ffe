@_spi(FromOutside) import Conversions
import Glibc
import Service
import Tactus
import TactusDaemon
import Video

extension VideoSettings {
  /// Creates the settings from the configuration file, without the contents of other files and without the detector's command.
  ///
  /// - Parameter address: the value of `network.bind_address` in the file.
  init(_ wiring: Video.Wiring, _ rules: Video.Rules, address: String) {
    self.init()
    let (camera, viewing, detecting) = (rules.camera, rules.viewing, rules.detector)
    source =
      switch camera.source {
      case .auto: .automatic
      case .libcamera: .libcamera
      case .v4l2: .v4l2
      case .test: .test
      case .pipeline: .pipeline
      }
    encoder = VideoEncoder.allCases.first { "\($0)" == camera.encoder.rawValue } ?? .automatic
    device = camera.device ?? ""
    pipeline = camera.pipeline ?? ""
    (width, height) = (UInt16(clamping: camera.resolution[0]), UInt16(clamping: camera.resolution[1]))
    (framesPerSecond, bitsPerSecond, rotation) = (camera.framesPerSecond, camera.bitsPerSecond, camera.rotation)
    lowestBitsPerSecond = camera.lowestBitsPerSecond ?? max(10_000, camera.bitsPerSecond / 8)
    slowestFramesPerSecond = min(camera.slowestFramesPerSecond, camera.framesPerSecond)
    keyFrameInterval = UInt16(
      saturating: max(1, (camera.keyFrameSeconds * Double(camera.framesPerSecond)).rounded()))
    bindAddress = wiring.viewing.bindAddress ?? address
    port = wiring.port
    user = wiring.viewing.user ?? ""
    password = wiring.viewing.password?.text ?? ""
    (viewerLimit, picturesPerSecond, drawsClock) = (viewing.most, viewing.picturesPerSecond, viewing.drawsClock)
    detector.command = wiring.detector.command
    detector.side = wiring.detector.side
    detector.picturesPerSecond = detecting.picturesPerSecond
    detector.confidence = Float(detecting.confidence)
    detector.overlap = Float(detecting.overlap)
    detector.isAlwaysOn = detecting.isAlwaysOn
  }
}

/// The settings that are fixed while the program runs, with the contents that other files had at the start.
struct VideoStart: Sendable {
  private let wiring: Video.Wiring
  private let address: String
  private let isSimulated: Bool
  private let labels: [String]?

  /// Reads the files that the configuration names.
  ///
  /// - Throws: an error if the file with labels cannot be read.
  init(_ wiring: Video.Wiring, address: String, isSimulated: Bool) throws {
    (self.wiring, self.address, self.isSimulated) = (wiring, address, isSimulated)
    labels = try wiring.detector.labelsFile.map { path in
      do throws(FileFailure) {
        return try YAMLFile.read(path).split(whereSeparator: \.isNewline).map(String.init)
      } catch {
        // The path may have come from the environment.
        throw FileFailure(path: "video.detector.labels_file", reason: error.reason)
      }
    }
  }

  /// Returns the settings to send to the video process.
  func settings(_ rules: Video.Rules) -> VideoSettings {
    var settings = VideoSettings(wiring, rules, address: address)
    if isSimulated { settings.source = .test }
    if let labels { settings.detector.labels = labels }
    if let model = wiring.detector.model {
      if settings.detector.command.isEmpty { settings.detector.command = [DaemonProgram.beside("tactus-detect")] }
      settings.detector.command.append(model)
    }
    return settings
  }

  func description(_ settings: VideoSettings, _ rules: Video.Rules) -> VideoDescription {
    VideoDescription(settings, recordFolder: wiring.recordFolder, recordLimitBytes: rules.recordLimitBytes)
  }
}

extension Video.Rules {
  var recordLimitBytes: UInt64 { UInt64(clamping: recordLimitMegabytes) * 1_000_000 }
}

extension Video {
  public static var driven: String? { nil }

  public static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach {
    Reach(deviceGroups: ["video"])
  }

  public static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    let settings = VideoSettings(wiring, rules, address: address)
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
      ? "with a password"
      : Configuration.isLoopback(settings.bindAddress) ? "no password" : "NO PASSWORD: whoever reaches it can look"
    return [
      "video: \(source), \(settings.width)×\(settings.height) at \(settings.framesPerSecond) Hz, "
        + "rtsp://\(host):\(settings.port)/stream, \(access)"
    ]
  }

  public static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    let settings = VideoSettings(wiring, rules, address: start.address)
    let host = ["0.0.0.0", "::"].contains(settings.bindAddress) ? "127.0.0.1" : settings.bindAddress
    let user = settings.user.isEmpty ? "" : "\(settings.user):PASSWORD@"
    return Invitation(
      title: "video" + (start.isSimulated && settings.source != .test ? " (a test picture)" : ""),
      // Port 0 is one that the video process chooses later.
      lines: settings.port == 0
        ? ["Look at it on the page; the port of RTSP is in the log and in /api/video."]
        : [
          "Look at it on the page, or with ffplay (Debian's package ffmpeg):",
          "  ffplay -fflags nobuffer rtsp://\(user)\(host.contains(":") ? "[\(host)]" : host):\(settings.port)/stream",
        ], calls: [.init(options: "-o now.jpg", path: "/api/video/snapshot.jpg")])
  }
}
