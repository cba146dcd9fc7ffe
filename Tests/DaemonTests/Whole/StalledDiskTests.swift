import Dispatch
import ServiceSupport
import TestSupport
import Testing

@testable import Service
@testable import SprinklerDaemon

@Suite("A disk that stalls", .ownThread)
struct StalledDiskTests {
  @Test("clients wait for the disk, more than there are threads: an e-stop and a look do not; then all are answered")
  func others() throws {
    let (plants, sprinkler, robot) = (try PlantDoorBench(), try SprinklerDoorBench(), FakeSystem("robot"))
    let service = try RunningService(systems: [robot], routes: plants.door.routes + sprinkler.door.routes)
    #expect(
      try service.request("POST", "/api/plants", body: #"{"name":"Basil","sensors":["0x36"]}"#).status == 201)
    let stalled = [plants.file.stall(), sprinkler.desk.store.file.stall()]
    // Also when a client below gives up: twice does no harm.
    defer { for end in stalled { end.signal() } }
    let requests: [(method: String, path: String, body: String)] = [
      ("POST", "/api/plants/1/watered", "{}"), ("GET", "/api/plants/1/history", ""), ("GET", "/api/plants/alerts", ""),
      ("PUT", "/api/seasonal", #"{"percent":80}"#), ("GET", "/api/schedules/preview", ""),
    ]
    let clients = try requests.flatMap { request in
      try (0..<8).map { _ in
        let client = try TestClient(port: service.port)
        client.send(
          "\(request.method) \(request.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(request.body.utf8.count)\r\n\r\n"
            + request.body)
        return client
      }
    }
    // While they wait; without threads of their own nobody would ever be answered here.
    for _ in 0..<3 { #expect(try service.request("POST", "/api/e-stop").status == 200) }
    #expect(robot.asked.stops == 3)
    #expect(try service.request("GET", "/api/plants").status == 200)
    for end in stalled { end.signal() }
    for client in clients { #expect(try client.reply().status == 200) }
  }
}
