import Foundation
import Tactus
import TestSupport
import Testing
import Video

#if Video
  private let isThere = FileManager.default.isExecutableFile(atPath: VideoChildProcess.executable)
#else
  private let isThere = false
#endif

/// How the video process answers offers. Tests/Service/browser/test_webrtc.py looks at its picture.
@Suite("WebRTC of the video process", .ownThread, .serialized, .enabled(if: isThere, "needs the trait Video"))
struct WebRTCTests {
  private static let offer = try! WebRTCOffer.decode(Array(WebRTCOffers.chromium.utf8))

  private func answer(_ child: VideoChildProcess, _ session: UInt64) throws -> [String] {
    let text = try #require(
      try child.next { report in
        switch report {
        case .answer(session, let text): text
        case .ended(session, let end): "no answer: \(end)"
        default: nil
        }
      })
    return text.split(separator: "\r\n").map(String.init)
  }

  private func end(_ child: VideoChildProcess, _ session: UInt64) throws -> WebRTCEnd {
    try #require(try child.next { if case .ended(session, let end) = $0 { end } else { nil } }, "\(child.reports)")
  }

  @Test("an offer: H.264 as it numbers it, sent from a named source, at the configured address over UDP alone")
  func answers() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    child.order(.open(session: 7, Self.offer))
    let lines = try answer(child, 7)
    #expect(lines.contains { $0.hasPrefix("m=video ") && $0.split(separator: " ").contains("108") })
    #expect(lines.contains("a=rtpmap:108 H264/90000") && lines.contains("a=sendonly"))
    #expect(!lines.contains { $0.contains("VP8") })
    let candidates = lines.filter { $0.hasPrefix("a=candidate:") }
    #expect(!candidates.isEmpty)
    for candidate in candidates {
      let words = candidate.split(separator: " ")
      #expect(words[2] == "UDP" && words[4] == "127.0.0.1" && words[7] == "host", "\(candidate)")
      #expect(try #require(UInt16(words[5])) >= 49_152, "\(candidate)")
    }
    // Without its source in the group of what is sent again, a browser decodes and shows nothing.
    let group = try #require(lines.first { $0.hasPrefix("a=ssrc-group:FID ") }?.split(separator: " "))
    #expect(group.count == 3 && group[1] != "0", "\(group)")
  }

  @Test("a viewer who does not connect: its session ends after ten seconds, and the camera rests")
  func patience() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    let began = MonotonicClock.now
    child.order(.open(session: 1, Self.offer))
    _ = try answer(child, 1)
    let end = try end(child, 1)
    #expect(child.reports.contains(.camera(VideoCameraState(.running))))
    #expect(end.kind == .over && end.reason.contains("10 s"), "\(end)")
    #expect(MonotonicClock.now - began >= .seconds(10))
    _ = try child.camera(.idle)
  }

  @Test("20 sessions that the daemon closes: no report, the camera rests, and no thread or descriptor is left")
  func closes() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    func openAndClose(_ session: UInt64) throws {
      child.order(.open(session: session, Self.offer))
      _ = try answer(child, session)
      child.order(.close(session: session))
      child.order(.close(session: session))
    }
    func count(_ what: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.process)/\(what)").count
    }
    // What stays for good is there after the first.
    try openAndClose(1)
    _ = try child.camera(.idle)
    let (threads, descriptors) = (try count("task"), try count("fd"))
    for session in 2...21 as ClosedRange<UInt64> { try openAndClose(session) }
    _ = try child.camera(.idle)
    #expect(!child.reports.contains { if case .ended = $0 { true } else { false } })
    // Some threads of GLib's pools end later.
    let until = MonotonicClock.now + .seconds(60)
    while try count("fd") > descriptors + 4 || count("task") > threads + 10, MonotonicClock.now < until {
      _ = try child.statistics { _ in true }
    }
    #expect(try count("fd") <= descriptors + 4)
    #expect(try count("task") <= threads + 10)
  }

  @Test("an address that is not this computer's: the offer is refused with that, and nobody keeps the camera on")
  func foreignAddress() throws {
    var settings = VideoChildProcess.settings
    settings.bindAddress = "192.0.2.1"
    let child = try VideoChildProcess(settings)
    child.order(.open(session: 1, Self.offer))
    let end = try end(child, 1)
    #expect(end.kind == .refused && end.reason.contains("address"), "\(end)")
  }

  @Test("all addresses: those of every interface are candidates")
  func everyAddress() throws {
    var settings = VideoChildProcess.settings
    settings.bindAddress = "0.0.0.0"
    let child = try VideoChildProcess(settings)
    child.order(.open(session: 1, Self.offer))
    let candidates = try answer(child, 1).filter { $0.hasPrefix("a=candidate:") }
    #expect(candidates.contains { $0.contains(" 127.0.0.1 ") }, "\(candidates)")
    #expect(!candidates.contains { $0.contains(" 0.0.0.0 ") }, "\(candidates)")
  }

  @Test("GStreamer's plug-in for ICE is not there: which package it takes; RTSP is there all the same")
  func missing() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "plugins-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let installed = try #require(
      ["x86_64", "aarch64"].map { URL(filePath: "/usr/lib/\($0)-linux-gnu/gstreamer-1.0") }
        .first { FileManager.default.fileExists(atPath: $0.path) })
    for file in try FileManager.default.contentsOfDirectory(at: installed, includingPropertiesForKeys: nil)
    where file.pathExtension == "so" && file.lastPathComponent != "libgstnice.so" {
      try FileManager.default.createSymbolicLink(
        at: folder.appending(path: file.lastPathComponent), withDestinationURL: file)
    }
    let child = try VideoChildProcess(
      VideoChildProcess.settings,
      environment: [
        "GST_PLUGIN_PATH_1_0": folder.path, "GST_PLUGIN_SYSTEM_PATH_1_0": "/nowhere",
        "XDG_CACHE_HOME": folder.appending(path: "caches").path,
      ])
    child.order(.open(session: 1, Self.offer))
    let end = try end(child, 1)
    #expect(end.kind == .unavailable && end.reason.contains("apt install gstreamer1.0-nice"), "\(end)")
    #expect(try child.port() > 0)
  }
}
