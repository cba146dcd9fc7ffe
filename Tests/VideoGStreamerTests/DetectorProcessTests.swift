import Foundation
import TestSupport
import Testing
import Video

#if Video
  private let isThere = FileManager.default.isExecutableFile(atPath: VideoChildProcess.executable)
#else
  private let isThere = false
#endif

/// A detector of the test's own, in Python without any package, beside the real video process.
@Suite("detector", .ownThread, .serialized, .enabled(if: isThere, "needs the trait Video"))
struct DetectorProcessTests {
  /// Finds what is bright: one box around it, said as a tensor of two candidates, the other of no confidence.
  private static let bright = """
    from struct import pack
    from sys import stdin, stdout
    frames, answers = stdin.buffer, stdout.buffer
    while line := frames.readline():
        side = int(line.split()[1])
        picture = frames.read(side * side * 3)
        if len(picture) < side * side * 3: break
        found = [divmod(i, side) for i in range(side * side) if min(picture[3 * i:3 * i + 3]) > 180]
        rows, columns = [p[0] for p in found] or [0], [p[1] for p in found] or [0]
        box = [(min(columns) + max(columns) + 1) / 2, (min(rows) + max(rows) + 1) / 2, max(columns) - min(columns) + 1,
               max(rows) - min(rows) + 1, 0.75 if found else 0]
        answers.write(b"tensor 5 2\\n" + b"".join(pack("<2f", value, 0) for value in box))
        answers.flush()
    """

  private func settings(_ script: String, always: Bool = false) -> VideoSettings {
    var settings = VideoChildProcess.settings
    settings.source = .pipeline
    // A white square of 80 pixels, its upper left corner at (40, 60) of 320×240.
    settings.pipeline =
      "videotestsrc is-live=true pattern=white ! video/x-raw,width=80,height=80,framerate=30/1 "
      + "! videobox left=-40 top=-60 right=-200 bottom=-100 fill=black"
    settings.detector.command = ["python3", "-c", script]
    settings.detector.labels = ["square"]
    settings.detector.side = 64
    settings.detector.picturesPerSecond = 10
    settings.detector.isAlwaysOn = always
    return settings
  }

  private func detection(
    of child: VideoChildProcess, _ condition: (VideoDetection) -> Bool
  ) throws -> VideoDetection {
    try #require(
      try child.next { if case .detection(let detection) = $0, condition(detection) { detection } else { nil } })
  }

  @Test("a detector that looks at what viewers see: its boxes, in fractions of the picture")
  func looks() throws {
    let child = try VideoChildProcess(settings(Self.bright))
    #expect(try child.statistics { _ in true }.starts == 0)
    child.order(.want(fragments: true, pictures: false))
    let found = try detection(of: child) { $0.pictures >= 2 }
    #expect(found.phase == .running && found.duration > 0 && found.objects.count == 1)
    let object = try #require(found.objects.first)
    #expect((object.label, object.confidence) == ("square", 0.75))
    // 64 pixels of the square show 320 of the picture.
    for (value, expected) in [
      (object.box.left, 40.0 / 320), (object.box.top, 60.0 / 240), (object.box.width, 80.0 / 320),
      (object.box.height, 80.0 / 240),
    ] {
      #expect(abs(Double(value) - expected) < 0.04, "\(object.box)")
    }
  }

  @Test("always: it looks while nobody does")
  func always() throws {
    let child = try VideoChildProcess(settings(Self.bright, always: true))
    let found = try detection(of: child) { $0.pictures >= 2 }
    #expect(found.objects.count == 1)
    // Nothing is encoded for it.
    #expect(try child.statistics { _ in true }.frames == 0)
  }

  @Test("a detector that ends: why, and it is started again; the picture goes on")
  func ends() throws {
    let child = try VideoChildProcess(
      settings("import sys; sys.stdin.buffer.read(100); print('failed the model is too old')", always: true))
    let failed = try detection(of: child) { $0.phase == .failed }
    #expect(failed.cause == "the model is too old" && failed.objects.isEmpty)
    #expect(try detection(of: child) { $0.failures >= 2 }.phase == .failed)
    child.order(.want(fragments: true, pictures: false))
    #expect(try child.next { if case .fragment = $0 { true } else { nil } } == true)
  }

  @Test("a detector that does not exist, or says something else: what is wrong with it")
  func wrong() throws {
    var missing = settings("", always: true)
    missing.detector.command = ["/nonexistent/detector", "model.onnx"]
    let first = try VideoChildProcess(missing)
    let cause = try detection(of: first) { $0.phase == .failed }.cause
    #expect(cause == "/nonexistent/detector cannot be started: No such file or directory")
    let second = try VideoChildProcess(
      settings("print('hello', flush=True); import time; time.sleep(99)", always: true))
    #expect(try detection(of: second) { $0.phase == .failed }.cause.contains("\"hello\""))
  }

  private static func children(of process: pid_t) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").flatMap { task in
      // A thread may end while it is asked.
      let text = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)
      return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
  }

  /// It is nobody's child any more, so it is looked for.
  private func endsSoon(_ process: pid_t) -> Bool {
    for _ in 0..<patience / 20 {
      // Whoever has inherited it may not have looked yet.
      let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: ") ").last?
        .first
      if state == nil || state == "Z" { return true }
      _ = poll(nil, 0, 20)
    }
    return false
  }

  @Test("the daemon's end is closed: the detector ends with the video process")
  func orphan() throws {
    let child = try VideoChildProcess(settings(Self.bright, always: true))
    _ = try detection(of: child) { $0.pictures >= 1 }
    let detectors = try Self.children(of: child.process)
    #expect(detectors.count == 1)
    #expect(child.endsAfterHangUp() == 0)
    for detector in detectors { #expect(endsSoon(detector)) }
  }
}
