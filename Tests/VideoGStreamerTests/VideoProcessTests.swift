import Foundation
import Synchronization
import Tactus
import TestSupport
import Testing
import Video

#if Video
  private let isThere = FileManager.default.isExecutableFile(atPath: VideoChildProcess.executable)
#else
  private let isThere = false
#endif

@Suite("video process", .ownThread, .serialized, .enabled(if: isThere, "needs the trait Video"))
struct VideoProcessTests {
  @Test("nobody is watching: the camera rests, and the port is open")
  func rests() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    _ = try child.camera(.idle)
    #expect(try child.port() > 0)
    #expect(try child.statistics { _ in true }.starts == 0)
  }

  @Test("an RTSP viewer: a key frame, then more; the camera runs while it looks and rests some time after")
  func viewer() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    let viewer = try RTSPViewer(port: child.port())
    #expect(try viewer.play() == 200)
    try viewer.waitForKeyFrame()
    try viewer.waitForKeyFrame()
    let statistics = try child.statistics { $0.viewers == 1 && $0.framesLastSecond > 0 }
    #expect(statistics.starts == 1 && statistics.firstFrame > 0 && statistics.encodeMean > 0)
    try viewer.tearDown()
    _ = try child.camera(.idle)
    #expect(try child.statistics { _ in true }.viewers == 0)
  }

  /// One of twenty is enough, because others use this machine, too: a product that waits, waits every time.
  @Test("the first viewer: the first frame comes at once with PLAY's answer, and the second right behind it", .realTime)
  func promptly() throws {
    var tries: [String] = []
    var isPrompt = false
    while !isPrompt, tries.count < 20 {
      let child = try VideoChildProcess(VideoChildProcess.settings)
      let viewer = try RTSPViewer(port: child.port())
      #expect(try viewer.play() == 200)
      let began = MonotonicClock.now
      let first = try #require(try viewer.stamp())
      let wait = MonotonicClock.now - began
      var next = first
      while next == first { next = try #require(try viewer.stamp()) }
      let gap = next &- first
      tries.append("\(wait), \(gap)")
      // A player acknowledges after 40 ms; another key frame is made after 200.
      isPrompt = wait < .milliseconds(30) && gap < 150 * 90
    }
    #expect(isPrompt, "wait, and gap of 90,000 a second: \(tries)")
  }

  @Test("several viewers: one encoder, and each begins with a key frame of its own soon, though they are seconds apart")
  func shared() throws {
    var settings = VideoChildProcess.settings
    settings.keyFrameInterval = 3000
    let child = try VideoChildProcess(settings)
    let port = try child.port()
    var viewers: [RTSPViewer] = []
    for _ in 0..<4 {
      let viewer = try RTSPViewer(port: port)
      #expect(try viewer.play() == 200)
      try viewer.waitForKeyFrame()
      viewers.append(viewer)
    }
    let statistics = try child.statistics { $0.viewers == 4 }
    #expect(statistics.starts == 1 && statistics.viewersEver == 4)
    // A viewer that a loaded machine lets fall behind gets another one: seldom, of so many frames.
    #expect((2...8 + statistics.frames / 100).contains(statistics.keyFrames), "\(statistics)")
  }

  /// The steps between the first frames that a viewer of a camera with 60 frames a second gets, of 90,000 a second.
  private func stepsOfFastCamera() throws -> [UInt32] {
    var settings = VideoChildProcess.settings
    settings.source = .pipeline
    settings.pipeline = "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=60/1"
    settings.picturesPerSecond = 5
    let child = try VideoChildProcess(settings)
    let viewer = try RTSPViewer(port: child.port())
    #expect(try viewer.play() == 200)
    var stamps: [UInt32] = []
    while stamps.count < 30, let stamp = try viewer.stamp() {
      if stamps.last != stamp { stamps.append(stamp) }
    }
    // The first frame is the one that was there when the viewer came, whenever that was.
    let steps = zip(stamps.dropFirst(2), stamps.dropFirst()).map { $0 &- $1 }
    try #require(steps.count > 20, "\(steps)")
    return steps
  }

  @Test("a camera of 60 frames a second: 30 of them for viewers, whatever rate pictures have")
  func fastCamera() throws {
    // 3,000 is a thirtieth of a second, 18,000 a picture's. A machine that is busy drops frames, however many; none is ever added. A camera that
    // starts late gives two at once, so the middle one of the steps counts.
    let steps = try stepsOfFastCamera()
    #expect(steps.sorted()[steps.count / 2] >= 2_900 && steps.contains { (2_900...12_100).contains($0) }, "\(steps)")
  }

  @Test("a camera of 60 frames a second: half of its frames or more, of 30 a second, come", .realTime)
  func fastCameraInTime() throws {
    let steps = try stepsOfFastCamera()
    #expect((2_900...12_100).contains(steps.sorted()[steps.count / 2]), "\(steps)")
  }

  @Test("100 times the last viewer leaves, with and without a word, and a new one comes: each sees the picture")
  func again() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    let port = try child.port()
    for round in 0..<100 {
      let viewer = try RTSPViewer(port: port)
      let status = try viewer.play()
      try #require(status == 200, "round \(round)")
      try viewer.waitForKeyFrame()
      if round % 2 == 0 { try viewer.tearDown() }
    }
    // Reports from before are read, too: there was nobody between two viewers.
    let statistics = try child.statistics { $0.viewers == 0 && $0.viewersEver >= 100 }
    #expect(statistics.viewersEver == 100 && statistics.failures == 0)
  }

  @Test("a viewer who stops reading: another goes on seeing the picture")
  func slowViewer() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    let port = try child.port()
    let slow = try RTSPViewer(port: port)
    #expect(try slow.play() == 200)
    let viewer = try RTSPViewer(port: port)
    #expect(try viewer.play() == 200)
    let before = try child.statistics { $0.viewers == 2 }.frames
    while try child.statistics({ _ in true }).frames < before + 100 { try viewer.waitForKeyFrame() }
    withExtendedLifetime(slow) {}
  }

  @Test("more viewers than may be: 503, and those who look go on")
  func limit() throws {
    var settings = VideoChildProcess.settings
    settings.viewerLimit = 2
    let child = try VideoChildProcess(settings)
    let port = try child.port()
    let viewers = try (0..<2).map { _ in try RTSPViewer(port: port) }
    for viewer in viewers { #expect(try viewer.play() == 200) }
    #expect(try RTSPViewer(port: port).play() == 503)
    for viewer in viewers { try viewer.waitForKeyFrame() }
    #expect(try child.statistics { $0.viewersRefused == 1 }.viewers == 2)
  }

  private func secretive() throws -> VideoChildProcess {
    var settings = VideoChildProcess.settings
    (settings.user, settings.password) = ("robot", "secret")
    return try VideoChildProcess(settings)
  }

  @Test("a password: without it 401 with a digest's challenge, and no picture; with it the picture")
  func password() throws {
    let child = try secretive()
    let viewer = try RTSPViewer(port: child.port())
    let refused = try viewer.request("DESCRIBE", nil, ["Accept": "application/sdp"])
    #expect(refused.status == 401)
    #expect(refused.fields["www-authenticate"]?.hasPrefix("Digest ") == true)
    #expect(try child.statistics { _ in true }.starts == 0)
    viewer.password = ("robot", "secret")
    #expect(try viewer.play() == 200)
    try viewer.waitForKeyFrame()
  }

  @Test("wrong passwords: ten are looked at, then 429, whoever asks from there; whoever plays goes on, and asks again")
  func guesses() throws {
    let child = try secretive()
    let port = try child.port()
    let viewer = try RTSPViewer(port: port)
    viewer.password = ("robot", "secret")
    #expect(try viewer.play() == 200)
    let began = MonotonicClock.now
    var statuses: [Int] = []
    for number in 0..<40 {
      let guesser = try RTSPViewer(port: port)
      guesser.password = ("robot", "guess\(number)")
      statuses.append(try guesser.play())
    }
    // One every six seconds besides: a busy machine may take its time.
    let looks = 11 + Int((MonotonicClock.now - began).inSeconds / 6)
    #expect(statuses.prefix(10).allSatisfy { $0 == 401 }, "\(statuses)")
    #expect(statuses.allSatisfy { [401, 429].contains($0) } && statuses.count { $0 == 401 } <= looks, "\(statuses)")
    var (answer, tries) = (RTSPViewer.Response?.none, 0)
    while answer?.status != 429, tries < 20 {
      let late = try RTSPViewer(port: port)
      late.password = ("robot", "wrong")
      answer = try late.authorised("DESCRIBE")
      tries += 1
    }
    let refused = try #require(answer)
    #expect(refused.status == 429 && Int(refused.fields["retry-after"] ?? "").map { (1...6).contains($0) } == true)
    try viewer.waitForKeyFrame()
    #expect(try viewer.authorised("DESCRIBE").status == 200)
    #expect(try child.statistics { $0.viewersRefused >= 40 }.viewers == 1)
  }

  @Test("the right password with another connection's challenge: asked for anew, and no guess")
  func staleChallenge() throws {
    let child = try secretive()
    let port = try child.port()
    let first = try RTSPViewer(port: port)
    first.password = ("robot", "secret")
    #expect(try first.authorised("DESCRIBE").status == 200)
    let second = try RTSPViewer(port: port)
    second.password = ("robot", "secret")
    #expect(try second.request("DESCRIBE").status == 401)
    second.challenge = first.challenge
    for _ in 0..<20 {
      let answer = try second.request("DESCRIBE", nil, ["Authorization": second.authorisation("DESCRIBE")])
      #expect(answer.status == 401 && answer.fields["www-authenticate"]?.contains("stale=true") == true)
    }
    #expect(try second.authorised("DESCRIBE").status == 200)
  }

  @Test("sessions that are set up and not played: they keep nobody out, end after 10 s, and their connection is closed")
  func waitingSessions() throws {
    var settings = VideoChildProcess.settings
    settings.viewerLimit = 3
    let child = try VideoChildProcess(settings)
    let port = try child.port()
    let first = try RTSPViewer(port: port)
    #expect(try first.play() == 200)
    let waiting = try (0..<6).map { _ in try RTSPViewer(port: port) }
    let began = MonotonicClock.now
    for viewer in waiting { #expect(try viewer.setUp() == 200) }
    let others = try (0..<2).map { _ in try RTSPViewer(port: port) }
    for viewer in others { #expect(try viewer.play() == 200) }
    #expect(try RTSPViewer(port: port).play() == 503, "those who play have all places")
    for viewer in waiting { #expect(viewer.ends()) }
    #expect(MonotonicClock.now - began > .seconds(9))
    for viewer in others + [first] { try viewer.waitForKeyFrame() }
    #expect(try child.statistics { _ in true }.viewers == 3)
  }

  @Test("a request that announces 2 GB, before any password: its connection is closed, and nothing is allocated for it")
  func announcedLength() throws {
    var settings = VideoChildProcess.settings
    (settings.user, settings.password) = ("viewer", "secret")
    let child = try VideoChildProcess(settings)
    let port = try child.port()
    let viewer = try RTSPViewer(port: port)
    _ = viewer.send(
      raw: "ANNOUNCE rtsp://127.0.0.1/stream RTSP/1.0\r\nCSeq: 1\r\nContent-Type: application/sdp\r\n"
        + "Content-Length: 2000000000\r\n\r\n")
    viewer.sendWithoutEnd()
    #expect(try RTSPViewer(port: port).request("OPTIONS").status == 200)
    #expect(try memory(of: child, "VmHWM") < 400_000 && memory(of: child, "VmData") < 1_000_000)
  }

  /// A line of /proc/PID/status, in kB.
  private func memory(of child: VideoChildProcess, _ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(child.process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  @Test(
    "a request line without an end: another viewer is served meanwhile; it is closed after 10 s, as who sends nothing is"
  )
  func endlessLines() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    let port = try child.port()
    // They are closed after ten seconds, and a busy machine may need as long to show a picture: one of ten is enough.
    var isServedMeanwhile = false
    for _ in 0..<10 where !isServedMeanwhile {
      let silent = try RTSPViewer(port: port)
      let began = MonotonicClock.now
      let isClosed = Mutex(false)
      let closed = DispatchSemaphore(value: 0)
      let endless = Handed(try RTSPViewer(port: port))
      #expect(endless.value.send(raw: "OPTIONS "))
      Thread {
        endless.value.sendWithoutEnd()
        isClosed.withLock { $0 = true }
        closed.signal()
      }.start()
      let viewer = try RTSPViewer(port: port)
      #expect(try viewer.play() == 200)
      try viewer.waitForKeyFrame()
      isServedMeanwhile = !isClosed.withLock { $0 }
      closed.wait()
      #expect(silent.ends())
      #expect(MonotonicClock.now - began > .seconds(9))
      try viewer.waitForKeyFrame()
      #expect(try viewer.request("OPTIONS").status == 200)
    }
    #expect(isServedMeanwhile)
  }

  /// Unchecked: handed to one thread, and not used here any more.
  private final class Handed: @unchecked Sendable {
    let value: RTSPViewer
    init(_ value: RTSPViewer) { self.value = value }
  }

  @Test("the port is taken: said, and taken as soon as it is free")
  func busyPort() throws {
    let first = try VideoChildProcess(VideoChildProcess.settings)
    let port = try first.port()
    var settings = VideoChildProcess.settings
    settings.port = port
    let second = try VideoChildProcess(settings)
    let cause = try #require(
      try second.next { if case .rtsp(let rtsp) = $0, rtsp.port == 0 { rtsp.cause } else { nil } })
    #expect(cause.contains("\(port)") && cause.contains("taken"))
    kill(first.process, SIGKILL)
    #expect(try second.port() == port)
  }

  @Test("a camera that is missing: the cause, 503 for players, another attempt; never the end of the process")
  func missingCamera() throws {
    var settings = VideoChildProcess.settings
    settings.source = .v4l2
    settings.device = "/dev/video99"
    let child = try VideoChildProcess(settings)
    let port = try child.port()
    child.order(.want(fragments: true, pictures: false))
    let failed = try child.camera(.failed)
    #expect(failed.cause.contains("/dev/video99") && failed.retryMilliseconds > 0)
    #expect(try RTSPViewer(port: port).play() == 503)
    #expect(try child.statistics { $0.failures >= 2 }.starts >= 2)
  }

  @Test("a camera that goes away again and again: its viewers' picture comes back by itself")
  func lostCamera() throws {
    var settings = VideoChildProcess.settings
    settings.source = .pipeline
    settings.pipeline = "videotestsrc is-live=true ! video/x-raw,framerate=30/1 ! identity error-after=40"
    let child = try VideoChildProcess(settings)
    let viewer = try RTSPViewer(port: child.port())
    #expect(try viewer.play() == 200)
    for _ in 0..<2 {
      try viewer.waitForKeyFrame()
      _ = try child.camera(.failed)
      _ = try child.camera(.running)
    }
    try viewer.waitForKeyFrame()
  }

  @Test("elements that do not exist: what is wrong with them")
  func nonsense() throws {
    var settings = VideoChildProcess.settings
    settings.source = .pipeline
    settings.pipeline = "nosuchsource"
    let child = try VideoChildProcess(settings)
    child.order(.want(fragments: false, pictures: true))
    #expect(try child.camera(.failed).cause.contains("nosuchsource"))
  }

  @Test(
    "the service's streams: an initialisation, a key fragment first, pictures; the encoder rests when only pictures are wanted"
  )
  func taps() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    child.order(.want(fragments: false, pictures: true))
    let picture = try #require(try child.next { if case .picture(let bytes) = $0 { bytes } else { nil } })
    #expect(picture.starts(with: [0xFF, 0xD8]) && picture.suffix(2) == [0xFF, 0xD9])
    #expect(try child.statistics { $0.pictures > 3 }.frames == 0)
    child.order(.want(fragments: true, pictures: false))
    let codec = try #require(try child.next { if case .initialisation(let codec, _) = $0 { codec } else { nil } })
    #expect(codec.hasPrefix("avc1.42"))
    #expect(try child.next { if case .fragment(let isKey, _) = $0 { isKey } else { nil } } == true)
  }

  @Test("a recording: a file that begins as MP4, up to its limit")
  func recording() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "video-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.mp4").path(percentEncoded: false)
    let child = try VideoChildProcess(VideoChildProcess.settings)
    child.order(.record(path: path, limitBytes: 60_000))
    let full = try #require(
      try child.next { if case .recording(let recording) = $0, recording.phase == .full { recording } else { nil } })
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(bytes.count == Int(full.bytes) && bytes.count <= 60_000 && bytes.count > 20_000)
    #expect(bytes.dropFirst(4).starts(with: Data("ftyp".utf8)))
    // No file goes with this one: the process can make none by itself.
    child.order(.record(path: path, limitBytes: 60_000))
    let failed = try #require(
      try child.next { if case .recording(let recording) = $0, recording.phase == .failed { recording } else { nil } })
    #expect(failed.cause.contains("no file"))
  }

  @Test("the daemon's end is closed: the process ends")
  func orphan() throws {
    let child = try VideoChildProcess(VideoChildProcess.settings)
    _ = try child.port()
    #expect(child.endsAfterHangUp() == 0)
  }
}
