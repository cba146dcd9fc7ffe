import Foundation
import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing
import Video

@testable import Service
@testable import TactusDaemon
@testable import VideoDaemon

@Suite("video behind the door", .ownThread)
struct VideoDoorTests {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 1, 2, 3, 0xFF, 0xD9]

  @Test("no process: down, with its cause and what happens next; a process that rests: idle")
  func states() throws {
    let bench = VideoBench()
    let service = try RunningService(systems: [bench.door])
    #expect(try service.request("GET", "/api/video").json?["state"] as? String == "idle")
    var report = ChildReport()
    (report.starts, report.ends, report.cause) = (1, 1, "it was ended by signal 11")
    report.nextStart = bench.now + .milliseconds(500)
    bench.desk.receive(report)
    let document = try #require(try service.request("GET", "/api/video").json)
    #expect(document["state"] as? String == "down")
    #expect((document["reason"] as? String)?.contains("signal 11") == true)
    #expect((document["process"] as? [String: Any])?["retryMs"] as? Double == 500)
    #expect(try service.request("GET", "/api/video/snapshot.jpg").status == 503)
  }

  @Test("a camera that fails: its cause and the way out, told once as an edge")
  func failure() throws {
    let bench = VideoBench()
    _ = bench.door.events(at: bench.now, second: true)
    bench.desk.receive(.camera(VideoCameraState(.failed, cause: "no such device", retryMilliseconds: 500)))
    bench.desk.receive(.statistics(VideoStatistics()))
    let edges = bench.door.events(at: bench.now, second: false)
    try #require(edges.count == 1)
    let text = String(decoding: edges[0].body, as: UTF8.self)
    #expect(edges[0].kind == .edge && text.contains("no such device") && text.contains("wayOut"))
    #expect(bench.door.events(at: bench.now, second: false).isEmpty)
  }

  @Test("snapshot: pictures are wanted until one has come, and not longer")
  func snapshot() throws {
    let bench = VideoBench()
    let service = try RunningService(systems: [bench.door])
    let reply = try bench.playing(
      { order in
        order == .want(fragments: false, pictures: true) ? [.picture(Self.jpeg)] : []
      }, { try service.request("GET", "/api/video/snapshot.jpg") })
    #expect(reply.status == 200)
    #expect(
      bench.orders.withLock { $0 } == [
        .want(fragments: false, pictures: true), .want(fragments: false, pictures: false),
      ])
  }

  @Test("nothing comes for ten seconds: 503 with the cause, and the stream's place is free again")
  func silence() async throws {
    let bench = VideoBench(viewers: 1)
    bench.desk.receive(.camera(VideoCameraState(.failed, cause: "unplugged")))
    let route = try #require(bench.door.routes.first { $0.path == "/api/video/stream.mp4" })
    guard case .handler(let handle) = route.handling else { return }
    let request = APIRequest(
      caller: Caller(scope: .read, tokenID: nil, address: "x", client: 0))
    async let answer = handle(request)
    while bench.orders.withLock({ $0.isEmpty }) { await Task.yield() }
    await #expect(throws: APIError.self) { try await handle(request) }
    bench.pass(seconds: 9.9)
    _ = bench.door.events(at: bench.now, second: true)
    bench.pass(seconds: 0.2)
    _ = bench.door.events(at: bench.now, second: true)
    do {
      _ = try await answer
      Issue.record("an answer without a picture")
    } catch let error as APIError {
      #expect(error.code == "NO_PICTURE" && error.message.contains("unplugged"))
    }
    #expect(bench.desk.snapshot.viewers.isEmpty)
  }

  @Test("stream.mp4: its type from the initialisation, that first, then a key frame, then what follows")
  func film() async throws {
    let bench = VideoBench()
    let route = try #require(bench.door.routes.first { $0.path == "/api/video/stream.mp4" })
    guard case .handler(let handle) = route.handling else { return }
    let request = APIRequest(
      caller: Caller(scope: .read, tokenID: nil, address: "x", client: 0))
    async let coming = handle(request)
    while bench.orders.withLock({ $0.isEmpty }) { await Task.yield() }
    bench.desk.receive(.fragment(isKey: true, bytes: [9]))
    bench.desk.receive(.initialisation(codec: "avc1.640028", bytes: [1]))
    bench.desk.receive(.fragment(isKey: false, bytes: [2]))
    bench.desk.receive(.fragment(isKey: true, bytes: [3]))
    let answer = try await coming
    #expect(answer.contentType == "video/mp4; codecs=\"avc1.640028\"")
    let pieces = try #require(answer.pieces)
    #expect(try await pieces() == [1, 3])
    // A second viewer's initialisation is nothing new to the first.
    bench.desk.receive(.initialisation(codec: "avc1.640028", bytes: [1]))
    bench.desk.receive(.fragment(isKey: false, bytes: [4]))
    #expect(try await pieces() == [4])
    // Another camera's is.
    bench.desk.receive(.initialisation(codec: "avc1.640028", bytes: [7]))
    bench.desk.receive(.fragment(isKey: false, bytes: [5]))
    bench.desk.receive(.fragment(isKey: true, bytes: [6]))
    #expect(try await pieces() == [7, 6])
  }

  @Test(
    "the RTSP port is open and does not answer: failed, with the reason; not listening; it answers again: as before")
  func silentPort() {
    let bench = VideoBench()
    bench.desk.receive(.rtsp(VideoRTSPState(port: 8554, cause: "RTSP does not answer")))
    #expect(bench.desk.told.state == "failed")
    #expect(!bench.desk.seen(at: bench.now).rtsp.isListening)
    #expect(bench.desk.seen(at: bench.now).rtsp.cause == "RTSP does not answer")
    bench.desk.receive(.rtsp(VideoRTSPState(port: 8554)))
    #expect(bench.desk.told.state == "idle")
    #expect(bench.desk.seen(at: bench.now).rtsp.isListening)
  }

  @Test("a process that has been started again: told what is wanted")
  func again() {
    let bench = VideoBench()
    var report = ChildReport()
    bench.desk.receive(report)
    report.process = 43
    bench.desk.receive(report)
    #expect(bench.orders.withLock { $0 } == [.want(fragments: false, pictures: false)])
  }

  @Test("record: a file in the folder, one at a time; without a folder or a process it says so")
  func recording() throws {
    let bench = VideoBench()
    let service = try RunningService(systems: [bench.door])
    let reply = try service.request("POST", "/api/video/record", body: #"{"megabytes": 5}"#)
    #expect(reply.status == 200)
    #expect(bench.orders.withLock { $0 } == [.record(path: "/recordings/a.mp4", limitBytes: 1_000_000)])
    #expect(try service.request("POST", "/api/video/record").status == 409)
    bench.desk.receive(.recording(VideoRecording(.stopped, path: "/recordings/a.mp4", bytes: 5)))
    #expect(try service.request("POST", "/api/video/record").status == 200)
    #expect(try service.request("POST", "/api/video/record/stop").status == 200)
    #expect(bench.orders.withLock { $0.last } == .stopRecording)

    let without = try RunningService(systems: [VideoBench(folder: nil).door])
    #expect(try without.request("POST", "/api/video/record").status == 409)
  }

  @Test("cameras: what the process lists; one that does not answer in time is 503")
  func cameras() async throws {
    let bench = VideoBench()
    let service = try RunningService(systems: [bench.door])
    let camera = VideoCamera(name: "C920", kind: "v4l2", device: "/dev/video0", location: "", modes: ["raw"])
    let reply = try bench.playing(
      { $0 == .listCameras ? [.cameras([camera])] : [] }, { try service.request("GET", "/api/video/cameras") })
    let cameras = try #require(reply.json?["cameras"] as? [[String: Any]])
    #expect(cameras.count == 1 && cameras[0]["device"] as? String == "/dev/video0")

    let route = try #require(bench.door.routes.first { $0.path == "/api/video/cameras" })
    guard case .handler(let handle) = route.handling else { return }
    bench.orders.withLock { $0 = [] }
    async let answer = handle(
      APIRequest(caller: Caller(scope: .read, tokenID: nil, address: "x", client: 0)))
    while bench.orders.withLock({ $0.isEmpty }) { await Task.yield() }
    bench.pass(seconds: 9)
    _ = bench.door.events(at: bench.now, second: true)
    do {
      _ = try await answer
      Issue.record("an answer from nobody")
    } catch let error as APIError {
      #expect(error.code == "VIDEO_DOWN")
    }
  }

  @Test("a detector: none is off; its boxes as an event for each answer and in the document; old ones are gone")
  func detection() throws {
    func part(_ bench: VideoBench) throws -> [String: Any] {
      let document = try #require(JSONSerialization.jsonObject(with: Data(bench.door.state)) as? [String: Any])
      return try #require(document["detection"] as? [String: Any])
    }
    #expect(try part(VideoBench())["state"] as? String == "off")
    let bench = VideoBench(detects: true)
    #expect(try part(bench)["state"] as? String == "idle")
    var detection = VideoDetection(.running)
    (detection.pictures, detection.duration) = (1, 40_000_000)
    detection.objects = [
      DetectedObject(label: "cat", confidence: 0.5, box: DetectedBox(left: 0, top: 0.25, width: 1, height: 0.125))
    ]
    bench.desk.receive(.detection(detection))
    let told = bench.door.events(at: bench.now, second: false).filter { $0.type == "detections" }
    try #require(told.count == 1 && told[0].kind == .telemetry)
    let body = try #require(JSONSerialization.jsonObject(with: Data(told[0].body)) as? [String: Any])
    let objects = try #require(body["objects"] as? [[String: Any]])
    #expect(objects.count == 1 && objects[0]["label"] as? String == "cat" && objects[0]["top"] as? Double == 0.25)
    #expect(body["detectMs"] as? Double == 40)
    // Told once.
    #expect(!bench.door.events(at: bench.now, second: false).contains { $0.type == "detections" })
    #expect(try part(bench)["state"] as? String == "running" && (part(bench)["objects"] as? [Any])?.count == 1)
    bench.pass(seconds: 3)
    #expect(try part(bench)["state"] as? String == "idle" && (part(bench)["objects"] as? [Any])?.count == 0)
    var failed = VideoDetection(.failed)
    (failed.cause, failed.failures) = ("the model is too old", 1)
    bench.desk.receive(.detection(failed))
    #expect(try part(bench)["reason"] as? String == "the model is too old")
    #expect(!bench.door.events(at: bench.now, second: false).contains { $0.type == "detections" })
  }

  @Test("metrics: a page that Prometheus reads")
  func metrics() throws {
    let bench = VideoBench()
    var statistics = VideoStatistics()
    (statistics.frames, statistics.viewers, statistics.encodeMean) = (7, 3, 2_000_000)
    bench.desk.receive(.statistics(statistics))
    var writer = MetricsWriter()
    bench.door.write(into: &writer)
    for line in [
      #"tactus_video_state{state="idle"} 1"#, #"tactus_video_viewers{kind="rtsp"} 3"#, "tactus_video_frames_total 7",
      #"tactus_video_encode_seconds{value="mean"} 0.002"#, "tactus_video_process_starts_total 1",
    ] {
      #expect(writer.text.contains(line), "\(line)")
    }
  }
}
