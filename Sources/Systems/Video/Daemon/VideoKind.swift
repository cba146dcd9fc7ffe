import ArgumentParser
import AvahiSystemd
import Buses
import ServiceDocuments
import TactusDaemon
import TactusGuard
import VideoDocuments

/// The camera and its viewers: `camera:`, `video:`.
public struct VideoKind: SystemKind {
  public init() {}

  public var name: String { "video" }
  public var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "camera",
        doc: "The camera, its picture and its encoder. Video runs when this section or video is present."),
      ConfigSection(
        name: "video", doc: "How the picture is shown: RTSP on network.rtsp_port, and streams of the service."),
    ]
  }
  public var keys: [ConfigKey] { Configuration.Video.table }
  public var lists: [String: Int] { [:] }
  public var movedKeys: [String: String] { [:] }
  public var keeping: Keeping? { nil }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(
      system: Configuration.Video(found),
      unused: Configuration.Video.isThere
        ? [] : keys.map(\.path).filter { $0.hasPrefix("camera.") && found.values[$0] != nil })
  }

  public var numberedParts: [String] { [] }
  public var commands: [any ParsableCommand.Type] { [] }
  public var callExamples: [String] { [] }
  public var documents: SystemDocuments? { SystemDocuments(name, video_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [] }
  public func play(_ file: YAMLFile, seed: UInt64?) -> Bool? { nil }
  public var scenarioHelp: String? { nil }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    [doctor.cameras(doctor.machine.isThisOne ? CameraReport.current() : [])] + doctor.detector()
  }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the video, or `nil` if the file has neither a `camera` nor a `video` section.
  var video: Video? { systems[Video.self] }
}

extension Configuration.Video: AnyConfiguredSystem {
  var name: String { "video" }
  var driven: String? { nil }
  var isSimulated: Bool { settings.source == .test }
  var isOpenToAll: Bool { false }
  var claims: [ResourceClaim] {
    port > 0 ? [ResourceClaim(resource: .tcp(port: port), key: Self.name(of: \.port))] : []
  }
  var safeWrites: [SafeStateWrite] { [] }
  var safeLines: [GPIOLine] { [] }
  var deviceGroups: [String] { ["video"] }
  var folders: [String] { [recordFolder].compactMap(\.self) }
  var files: [String] { [detector.labelsFile].compactMap(\.self) }
  var looksUpNames: Bool { false }
  var secrets: [String] { [settings.password] }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    errors(file: whole.file, places: places)
  }

  func summary(in whole: Configuration) -> [String] { [summary] }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    let host = ["0.0.0.0", "::"].contains(settings.bindAddress) ? "127.0.0.1" : settings.bindAddress
    let user = settings.user.isEmpty ? "" : "\(settings.user):PASSWORD@"
    return Invitation(
      title: "video" + (simulated && !isSimulated ? " (a test picture)" : ""),
      lines: [
        "Look at it on the page, or with ffplay (Debian's package ffmpeg):",
        "  ffplay -fflags nobuffer rtsp://\(user)\(host.contains(":") ? "[\(host)]" : host):\(settings.port)/stream",
      ], calls: [.init(options: "-o now.jpg", path: "/api/video/snapshot.jpg")])
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    try DaemonVideo(
      self, simulate: surroundings.simulate, portOwners: surroundings.portOwners,
      logger: surroundings.log.logger("video"))
  }
}
