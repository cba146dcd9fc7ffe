import Foundation
import Leg
import ServiceSupport
import Tactus
import Testing

@testable import LegDaemon
@testable import Service
@testable import TactusDaemon

@Suite("the legs behind the door")
struct LegDoorTests {
  @Test("arm, set, ping, disarm over HTTP: answered when the loop has taken each, with the leg's state")
  func commands() async throws {
    let bench = try LegDoorBench()
    let armed = try await bench.post("{index}/arm", index: "1")
    let body = try #require(try JSONSerialization.jsonObject(with: Data(armed.body)) as? [String: Any])
    let leg = try #require(body["leg"] as? [String: Any])
    #expect(body["ok"] as? Bool == true && leg["state"] as? String == "armed" && leg["name"] as? String == "knee")
    #expect(leg["positionless"] as? Bool == true && leg["pulseUs"] is NSNull)
    let set = try await bench.post("{index}/set", #"{"pulseUs":1600}"#, index: "1")
    #expect(bench.pulse(1) == 1600 && bench.pulse(0) == nil && set.logValue == "leg=1 pulseUs=1600")
    bench.run(for: 150)
    _ = try await bench.post("{index}/ping", index: "1")
    bench.run(for: 150)
    #expect(bench.pulse(1) == 1600, "the ping fed it")
    _ = try await bench.post("{index}/disarm", index: "1")
    #expect(bench.state(1) == .disarmed(.confirmed))
  }

  @Test("refusals: no such leg is 404, a wrong pulse 422, a state that forbids it 409 with its way out")
  func refusals() async throws {
    let bench = try LegDoorBench()
    for index in ["2", "-1", "x", ""] {
      let error = await bench.refusal("{index}/arm", index: index, rings: 0)
      #expect(error?.status == .notFound && error?.message.hasSuffix("there is 0…1") == true)
    }
    let wrong = await bench.refusal("{index}/set", #"{"pulseUs":499}"#, index: "0", rings: 0)
    #expect(wrong?.code == "VALIDATION" && wrong?.field == "pulseUs")
    let early = await bench.refusal("{index}/set", #"{"pulseUs":1500}"#, index: "0")
    #expect(early?.status == .conflict && early?.code == "NOT_ARMED")
    #expect(early?.message == "leg 0: it is not armed; arm it")
    _ = try await bench.post("{index}/arm", index: "0")
    bench.run(for: 250)
    let fault = await bench.refusal("{index}/arm", index: "0")
    #expect(fault?.code == "IN_FAULT" && fault?.message.contains("then disarm and arm it") == true)
  }

  @Test("groups: an arm is for all or none, a disarm and an e-stop for all; a reset leaves the e-stop")
  func groups() async throws {
    let bench = try LegDoorBench()
    _ = try await bench.post("{index}/arm", index: "1")
    #expect(await bench.refusal("arm")?.code == "ALREADY_ARMED")
    #expect(bench.state(0) == .disarmed(.confirmed))
    _ = try await bench.post("disarm")
    _ = try await bench.post("arm")
    #expect(bench.state(0).word == .armed && bench.state(1).word == .armed)
    _ = try await bench.post("e-stop")
    #expect(bench.state(0) == .emergencyStopped(.confirmed) && bench.state(1) == .emergencyStopped(.confirmed))
    #expect(try bench.document()["state"] as? String == "emergencyStopped")
    #expect(await bench.refusal("arm")?.code == "EMERGENCY_STOPPED")
    _ = try await bench.post("reset")
    #expect(bench.state(0) == .disarmed(.confirmed) && bench.state(1) == .disarmed(.confirmed))
    #expect(await bench.refusal("reset") == nil, "nothing to reset is no error")
  }

  @Test("reset: a leg with nothing to reset does not keep a later one in its fault")
  func resetOfOne() async throws {
    let bench = try LegDoorBench()
    _ = try await bench.post("{index}/arm", index: "1")
    bench.run(for: 250)
    #expect(bench.state(1).word == .fault && bench.state(0).word == .disarmed)
    _ = try await bench.post("reset")
    #expect(bench.state(1) == .disarmed(.confirmed))
  }

  @Test("binary frames: 0x01 is for leg 0, 0x80 + k before a frame for leg k; anything else is for nobody here")
  func addresses() async throws {
    let bench = try LegDoorBench()
    _ = await bench.frame(LegBytes.arm)
    #expect(bench.state(0).word == .armed && bench.state(1).word == .disarmed)
    _ = await bench.frame([0x81] + LegBytes.arm)
    _ = await bench.frame([0x81] + LegBytes.set(1200))
    #expect(bench.pulse(1) == 1200 && bench.pulse(0) == nil)
    #expect(await bench.frame([0x82] + LegBytes.arm, rings: 0).words == ["NOT_FOUND"])
    #expect(!bench.door.receive(frame: Array(#"{"left":1,"right":1}"#.utf8), from: .one) { _ in })
    #expect(!bench.door.receive(frame: [], from: .one) { _ in })
  }

  @Test("frames refused: an arm in fault is told, a pulse is not, as in the protocol; garbage is error 4 besides")
  func silent() async throws {
    let bench = try LegDoorBench()
    #expect(await bench.frame(LegBytes.set(1500)).words == [])
    _ = await bench.frame(LegBytes.arm)
    #expect(await bench.frame(LegBytes.arm).words == ["ALREADY_ARMED"])
    bench.run(for: 250)
    #expect(await bench.frame(LegBytes.arm).words == ["IN_FAULT"])
    #expect(await bench.frame(LegBytes.set(1500)).words == [])
    #expect(await bench.frame([1, 9, 0, 0]).words == ["BAD_FRAME"])
    bench.run(for: 100)
    #expect(bench.door.newest[0].telemetry.error == .invalidCommand)
  }

  @Test("telemetry: binary, at every beat, to who has sent a frame, of its leg and the way it asked; a clamp is told")
  func telemetry() async throws {
    let bench = try LegDoorBench()
    func frames() -> [(client: UInt32, bytes: [UInt8])] {
      bench.door.events(at: bench.now, second: false).compactMap { event in
        guard case .frame(let client) = event.kind else { return nil }
        return (client, event.body)
      }
    }
    #expect(frames().isEmpty)
    _ = await bench.frame(LegBytes.arm, from: .one)
    _ = await bench.frame([0x81] + LegBytes.arm, from: .two)
    _ = await bench.frame([0x81] + LegBytes.set(2500), from: .two)
    let first = frames().sorted { $0.client < $1.client }
    #expect(first.map(\.client) == [1, 2] && first[0].bytes.count == 12 && first[0].bytes[1] == 0x10)
    #expect(first[1].bytes.count == 13 && first[1].bytes[0] == 0x81 && first[1].bytes[6] == 4, "2500 µs were clamped")
    bench.door.clientLeft(.one)
    #expect(frames().map(\.client) == [2])
  }

  @Test("the client that drives leaves: fault at once; another client's first frame leads out, as a reconnection does")
  func linkLost() async throws {
    let bench = try LegDoorBench()
    _ = await bench.frame(LegBytes.arm)
    _ = await bench.frame(LegBytes.set(1500))
    bench.door.clientLeft(.one)
    await bench.rung()
    bench.run(for: 2)
    #expect(bench.state(0) == .fault(.linkLost, .confirmed) && bench.state(1).word == .disarmed)
    #expect(await bench.frame(LegBytes.arm, from: .two, rings: 2).words == [])
    #expect(bench.state(0).word == .armed)
  }

  @Test("a client leaves while its command is on its way: fault all the same")
  func leftAtOnce() async throws {
    let bench = try LegDoorBench()
    _ = await bench.frame(LegBytes.arm, rings: 0)
    _ = await bench.frame(LegBytes.set(1500), rings: 0)
    bench.door.clientLeft(.one)
    await bench.rung(2)
    bench.run(for: 2)
    #expect(bench.state(0) == .fault(.linkLost, .confirmed))
  }

  @Test("a client leaves that disarmed, that only looked on, or that a sender of datagrams took over from: no fault")
  func leftInPeace() async throws {
    let bench = try LegDoorBench()
    _ = await bench.frame(LegBytes.arm)
    _ = await bench.frame(LegBytes.disarm)
    bench.door.clientLeft(.one)
    _ = await bench.frame(LegBytes.arm, from: .two)
    #expect(await bench.frame(LegBytes.arm, from: .one).words == ["ALREADY_ARMED"])
    bench.door.clientLeft(.one)
    bench.run(for: 10)
    #expect(bench.state(0).word == .armed)
    bench.udp(LegBytes.set(1700))
    bench.run(for: 10)
    #expect(bench.pulse(0) == 1700)
    #expect((try bench.document()["legs"] as? [[String: Any]])?[0]["lastSender"] as? String == "10.0.0.2:50000")
    bench.door.clientLeft(.two)
    bench.run(for: 10)
    #expect(bench.pulse(0) == 1700)
  }

  @Test("the document: age and deadline while armed, limits, counters and the chip")
  func document() async throws {
    let bench = try LegDoorBench()
    _ = try await bench.post("{index}/arm", index: "1", from: .two)
    _ = try await bench.post("{index}/set", #"{"pulseUs":2500}"#, index: "1", from: .two)
    bench.run(for: 31)
    let document = try bench.document()
    let leg = try #require((document["legs"] as? [[String: Any]])?[1])
    #expect(leg["pulseUs"] as? Int == 2000 && leg["lastSender"] as? String == "local client 2")
    let (age, deadline) = (try #require(leg["ageMs"] as? Double), try #require(leg["deadlineNs"] as? Int64))
    let at = try #require(document["monotonicNs"] as? Int64)
    #expect(deadline == at - Int64(age * 1e6) + 200_000_000)
    #expect((leg["counters"] as? [String: Any])?["clamped"] as? Int == 1)
    #expect((leg["settings"] as? [String: Any])?["channel"] as? Int == 5)
    #expect((document["chip"] as? [String: Any])?["ready"] as? Bool == true)
  }

  @Test("the links: UDP port and socket, each with its other end and its own frames; a sender is silent: nobody's")
  func links() async throws {
    let bench = try LegDoorBench()
    func links(_ leg: Int) throws -> [[String: Any]] {
      try #require((try bench.document()["legs"] as? [[String: Any]])?[leg]["links"] as? [[String: Any]])
    }
    func counts(_ link: [String: Any]) -> [Int?] {
      ["framesReceived", "framesMalformed", "framesLost", "framesSent", "sendFailures"].map { link[$0] as? Int }
    }
    bench.udp(LegBytes.arm)
    bench.udp([1, 9, 0, 0])
    bench.run(for: 5)
    _ = await bench.frame(LegBytes.ping, from: .one)
    _ = await bench.frame([1, 9, 0, 0], from: .two)
    _ = await bench.frame([0x81] + LegBytes.ping, from: .two)
    bench.run(for: 200)
    _ = bench.door.events(at: bench.now, second: false)
    bench.run(for: 20)
    let hip = try links(0)
    #expect(hip.map { $0["kind"] as? String } == ["udp", "websocket"])
    #expect(hip[0]["peer"] as? String == "10.0.0.2:50000" && hip[0]["device"] as? String == "port 5010")
    #expect(counts(hip[0]) == [2, 1, 0, 2, 0])
    #expect((hip[1]["peer"] as? String)?.contains("local client 1; ") == true)
    #expect(hip[1]["state"] as? String == "connected")
    #expect(counts(hip[1]) == [2, 1, 0, 2, 0])
    let knee = try links(1)
    #expect(knee[0]["peer"] is NSNull && counts(knee[0]) == [0, 0, 0, 0, 0])
    #expect(counts(knee[1]) == [1, 0, 0, 1, 0])
    bench.door.clientLeft(.one)
    bench.door.clientLeft(.two)
    // A minute of silence.
    bench.run(for: 60_200)
    let left = try links(0)
    #expect(left[0]["peer"] is NSNull && left[1]["peer"] is NSNull && left[1]["state"] as? String == "open")
    #expect(counts(left[1]) == [2, 1, 0, 2, 0])
    var page = MetricsWriter()
    bench.door.write(into: &page)
    for line in [
      #"tactus_leg_link_usable{leg="0",link="udp"} 1"#, #"tactus_leg_link_peer{leg="0",link="websocket"} 0"#,
      #"tactus_leg_link_received_frames_total{leg="0",link="udp"} 2"#,
      #"tactus_leg_link_malformed_frames_total{leg="0",link="websocket"} 1"#,
      #"tactus_leg_link_sent_frames_total{leg="1",link="websocket"} 1"#,
    ] { #expect(page.text.contains(line + "\n"), "\(line)") }
  }

  @Test("a link beside the port: its state and what it lost are its owner's, its frames the loop's")
  func ownedLink() throws {
    let report = LinkReport(.waiting, device: "hci0", reason: "no radio", lost: 7)
    let bench = try LegDoorBench(others: [(.bluetooth, { report })])
    let links = try #require((try bench.document()["legs"] as? [[String: Any]])?[0]["links"] as? [[String: Any]])
    #expect(links.map { $0["kind"] as? String } == ["udp", "bluetooth", "websocket"])
    var page = MetricsWriter()
    bench.door.write(into: &page)
    #expect(page.text.contains(#"tactus_leg_link_usable{leg="0",link="bluetooth"} 0"#))
    #expect(page.text.contains(#"tactus_leg_link_lost_frames_total{leg="0",link="bluetooth"} 7"#))
  }

  @Test("changes: an edge each, of the leg and of the chip")
  func edges() async throws {
    let bench = try LegDoorBench()
    while bench.notices.pop() != nil {}
    _ = await bench.frame(LegBytes.arm)
    let notice = bench.notices.pop()
    let told = try #require(notice)
    let edge = try #require(bench.door.edge(told))
    let body = try #require(try JSONSerialization.jsonObject(with: Data(edge.body)) as? [String: Any])
    #expect(
      edge.kind == .edge && edge.type == "leg" && body["index"] as? Int == 0 && body["state"] as? String == "armed")
    bench.chip.isPowered = false
    bench.run(for: 300)
    var types: Set<String> = []
    while let notice = bench.notices.pop() { types.insert(bench.door.edge(notice)?.type ?? "none") }
    #expect(types == ["leg", "leg.chip"])
  }

  @Test("every route is in the OpenAPI document")
  func described() async throws {
    let bench = try LegDoorBench()
    let written = OpenAPIDocument.written([try #require(DeclaredKind(Legs.self).documents)])
    let paths = try #require(written["paths"] as? [String: [String: Any]])
    for route in bench.door.routes {
      #expect(paths[route.path]?[route.method.rawValue.lowercased()] != nil, "\(route.method) \(route.path)")
    }
    let schemas = try #require((written["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]])
    func names(_ schema: String) -> Set<String>? {
      (schemas[schema]?["properties"] as? [String: Any]).map { Set($0.keys) }
    }
    let document = try bench.document()
    #expect(Set(document.keys) == names("Legs"))
    let leg = try #require((document["legs"] as? [[String: Any]])?.first)
    #expect(Set(leg.keys) == names("Leg"))
    #expect(Set(try #require((leg["links"] as? [[String: Any]])?.first).keys) == names("LegLink"))
  }

  @Test("the prefix of a leg's frames: none for leg 0, 0x80 + k for leg k, and the address reads it back")
  func prefix() {
    #expect(LegFrameAddress.prefix(of: 0) == [])
    #expect(LegFrameAddress.prefix(of: 3) == [0x83])
    for leg in 0...15 {
      let address = LegFrameAddress(LegFrameAddress.prefix(of: leg) + [1, 4, 0, 0])
      #expect(address?.leg == leg && address?.payload == [1, 4, 0, 0])
    }
  }
}
