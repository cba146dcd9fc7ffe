import TactusDaemon

extension Video {
  /// Lists the cameras for `scan`: by `tactus-video`; if that program is missing or does not answer, and of another machine's files, those
  /// of V4L2 by name alone.
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
