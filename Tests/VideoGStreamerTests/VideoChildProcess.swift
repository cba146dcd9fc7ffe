import CDaemon
import Foundation
import Tactus
import TestSupport
import Testing
import Video

/// The built `tactus-video` as the daemon runs it: orders in, reports out.
final class VideoChildProcess {
  static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "tactus-video").path(percentEncoded: false)

  let process: pid_t
  private let socket: Int32
  private var messages = VideoMessages()
  private(set) var reports: [VideoReport] = []

  /// Of GStreamer's list of its plug-ins, which takes seconds to make: the tests' own.
  static let caches = URL(filePath: executable).deletingLastPathComponent().appending(path: "test-caches").path(
    percentEncoded: false)

  /// - Parameters:
  ///   - settings: the first order; `nil` if it gets none.
  ///   - environment: variables for this process alone: other suites start theirs at the same time.
  init(_ settings: VideoSettings?, environment: [String: String] = [:]) throws {
    var pair: [Int32] = [-1, -1]
    try #require(daemon_socket_pair(&pair) >= 0)
    let variables = ["XDG_CACHE_HOME": Self.caches].merging(environment) { $1 }.map { "\($0)=\($1)" }
    let words = ["env"] + variables + [Self.executable, "serve", "--descriptor", "3"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // The suite's threads come and go, and the child would go with the one that made it.
    process = daemon_spawn("/usr/bin/env", &arguments, pair[1], 2)
    close(pair[1])
    socket = pair[0]
    try #require(process > 0, "no \(Self.executable)")
    if let settings { order(.settings(settings)) }
  }

  deinit {
    close(socket)
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// With an order to record goes the file, open, as from the daemon.
  func order(_ order: VideoOrder) {
    let bytes = order.bytes
    guard case .record(let path, _) = order else {
      _ = daemon_send(socket, bytes, bytes.count)
      return
    }
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
    _ = file < 0 ? daemon_send(socket, bytes, bytes.count) : daemon_send_with(socket, bytes, bytes.count, file)
    if file >= 0 { close(file) }
  }

  /// Returns what `found` makes of the first report from now on that it accepts. The result is `nil` if no such report has come within `limit`
  /// milliseconds, however many others have, or if the process has ended.
  func next<Found>(limit: Int32 = patience, _ found: (VideoReport) -> Found?) throws -> Found? {
    let deadline = ContinuousClock.now + .milliseconds(limit)
    while true {
      while let report = try messages.nextReport() {
        reports.append(report)
        if let value = found(report) { return value }
      }
      var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let left = max(.zero, deadline - ContinuousClock.now) / Duration.milliseconds(1)
      guard poll(&polled, 1, Int32(left.rounded(.up))) > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &bytes, bytes.count, 0)
      guard count > 0 else { return nil }
      messages.append(bytes.prefix(count))
    }
  }

  /// The RTSP port, once it is open.
  func port() throws -> UInt16 {
    func found(_ report: VideoReport) -> UInt16? {
      if case .rtsp(let rtsp) = report, rtsp.port > 0 { rtsp.port } else { nil }
    }
    return try #require(try reports.lazy.compactMap(found).first ?? next(found))
  }

  func camera(_ phase: VideoCameraState.Phase) throws -> VideoCameraState {
    try #require(try next { if case .camera(let camera) = $0, camera.phase == phase { camera } else { nil } })
  }

  func statistics(_ isEnough: (VideoStatistics) -> Bool) throws -> VideoStatistics {
    try #require(
      try next { if case .statistics(let statistics) = $0, isEnough(statistics) { statistics } else { nil } })
  }

  /// Closes this end, and waits for the process; its exit status, or nil when it was ended by a signal.
  func endsAfterHangUp() -> Int32? {
    shutdown(socket, Int32(SHUT_RDWR))
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return information.si_code == CLD_EXITED ? information._sifields._sigchld.si_status : nil
  }

  static var settings: VideoSettings {
    var settings = VideoSettings()
    settings.source = .test
    settings.width = 320
    settings.height = 240
    settings.port = 0
    return settings
  }
}
