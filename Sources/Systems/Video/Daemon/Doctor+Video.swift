import Confinement
import Foundation
import TactusDaemon

/// A camera as reported to `doctor`.
struct CameraReport: Equatable, Sendable, Decodable {
  var name: String
  /// The driver framework: `libcamera` or `v4l2`.
  var kind: String
  var device: String
  var location: String
  var modes: [String]

  /// Returns all cameras as listed by the program `tactus-video` next to this one, which uses GStreamer, or `nil` if that program is
  /// missing or does not answer within 10 s.
  static func current() -> [CameraReport]? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: DaemonProgram.beside("tactus-video"))
    process.arguments = ["cameras"]
    process.environment = Confinement.childEnvironment
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    try? output.fileHandleForWriting.close()
    var bytes: [UInt8] = []
    let descriptor = output.fileHandleForReading.fileDescriptor
    var polled = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    // A driver that hangs says nothing.
    while bytes.count < 1 << 20, poll(&polled, 1, 10_000) > 0 {
      var piece = [UInt8](repeating: 0, count: 16_384)
      let count = read(descriptor, &piece, piece.count)
      guard count > 0 else { break }
      bytes += piece.prefix(count)
    }
    process.terminate()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else { return nil }
    return bytes.split(separator: 0x0A).compactMap { try? JSONDecoder().decode(CameraReport.self, from: Data($0)) }
  }
}

extension Doctor {
  /// Returns the diagnosis of the cameras. A computer without a camera is fine: video then shows a test picture.
  ///
  /// - Parameter found: the cameras that `tactus-video` has listed, or `nil` if it could not list them.
  func cameras(_ found: [CameraReport]?) -> Diagnosis {
    let why = "video shows the first camera, or a test picture where there is none"
    guard let found else {
      return Diagnosis(
        name: "cameras", status: configuration?[Video.self] == nil ? .ok : .warn,
        found: "tactus-video, which lists them, is not there or does not answer", why: why,
        fix: configuration?[Video.self] == nil ? nil : "swift build --product tactus-video, with the trait Video")
    }
    let words = found.map { camera in
      let place = camera.location.isEmpty ? "" : ", \(camera.location)"
      return "\(camera.name) (\(camera.kind) \(camera.device)\(place), \(camera.modes.count) modes)"
    }
    return Diagnosis(
      name: "cameras", status: .ok, found: words.isEmpty ? "none" : words.joined(separator: ", "), why: why, fix: nil)
  }

  /// Returns the diagnosis of the detector's files, if a detector is configured.
  func detector() -> [Diagnosis] {
    guard let video = configuration?[Video.self]?.wiring, let model = video.detector.model else { return [] }
    func isThere(_ path: String) -> Bool {
      let end = path.lastIndex(of: "/")
      let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      return machine.list(folder).contains(end.map { String(path[path.index(after: $0)...]) } ?? path)
    }
    let isOurs = video.detector.command.isEmpty
    let program = isOurs ? DaemonProgram.beside("tactus-detect") : nil
    let missing = [program, model].compactMap(\.self).filter { !isThere($0) }
    let why = "without it nothing is detected; the picture is shown all the same"
    guard let first = missing.first else {
      return [Diagnosis(name: "video.detector", status: .ok, found: model, why: why, fix: nil)]
    }
    return [
      Diagnosis(
        name: "video.detector", status: .warn, found: "\(first) is not there", why: why,
        fix: first == model
          ? "put your model there: ONNX with YOLOv8's output"
          : "swift build --product tactus-detect, with the trait Detection")
    ]
  }
}

extension Video {
  /// Lists the cameras for `scan`, as `tactus-video` finds them. If that program is missing or does not answer, or if another machine's files are
  /// read, only the V4L2 cameras are listed, by name alone.
  public static func found(_ kind: ScanKind, on machine: Machine) -> ScanReport? {
    guard kind == .camera else { return nil }
    let finds = (machine.isThisOne ? CameraReport.current()?.map(\.find) : nil) ?? named(on: machine)
    return ScanReport(
      finds: finds,
      remarks: finds.isEmpty
        ? ["no camera: see that its cable sits and that camera_auto_detect=1 is in config.txt"] : [])
  }

  private static func named(on machine: Machine) -> [ScanFind] {
    let folder = "/sys/class/video4linux"
    // Further nodes of one device carry its metadata.
    let nodes = machine.list(folder).filter {
      $0.hasPrefix("video") && (machine.read("\(folder)/\($0)/index") ?? "0") == "0"
    }
    return nodes.map { node in
      ScanFind(kind: .camera, place: "/dev/\(node)", name: machine.read("\(folder)/\(node)/name") ?? "")
    }
  }
}

extension CameraReport {
  /// The camera as a scan shows it.
  var find: ScanFind {
    let place = location.isEmpty ? [] : [location]
    return ScanFind(kind: .camera, place: device, name: name, details: [kind] + place + modes)
  }
}
