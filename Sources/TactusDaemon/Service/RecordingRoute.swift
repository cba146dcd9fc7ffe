@_spi(FromOutside) import Conversions
import Service
import Tactus

extension Recorder {
  /// Creates a recorder for a file of this number of kilobytes. The result is `nil` for 0.
  init?(kilobytes: Int) {
    if kilobytes == 0 { return nil }
    self.init(bytesPerLane: kilobytes << 10)
  }
}

extension Route {
  /// The size of the largest recording that a command takes, in bytes.
  static let longestRecording = 256 << 20

  /// Returns the route `GET /api/recording`: the recording of the lanes, as a file. With `?last=60` the file contains at least the last 60 seconds.
  ///
  /// The recording is copied for each request, while the loops go on.
  static func recording(_ runtime: Runtime) -> Route {
    Route(.get, "/api/recording", scope: .admin, action: "recorder.read") { request in
      let query = try QueryReader(request.query, names: ["last"])
      let last = try query.integer("last", in: 1...86_400)
      let program = DaemonProgram.current
      let recording = runtime.recording(
        last: last.map { .seconds($0) },
        facts: [
          "program": program.name, "version": program.version, "made": WallClock.text,
          "monotonic": "\(MonotonicClock.now.nanoseconds)",
        ])
      guard let recording else {
        throw APIError.conflict(
          "NOT_RECORDED",
          "nothing is recorded: runtime.recorder_kilobytes is 0, no system has a loop, or no descriptor was left at the start"
        )
      }
      let stamp = WallClock.text.prefix(19).filter { $0 != "-" && $0 != ":" }
      let bytes = recording.bytes
      return APIResponse(
        contentType: "application/octet-stream",
        headers: [.contentDisposition: "attachment; filename=\"\(program.name)-\(stamp)Z.record\""], body: bytes,
        logValue: "bytes=\(bytes.count)")
    }.waitingForDisk(longest: DiskThreads.longPatience)
  }
}
