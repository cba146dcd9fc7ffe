import Buses
import Tactus
import Testing
import Wire

@testable import Service
@testable import TactusDaemon

/// What a file of jars says, without a program that has them.
private func found(_ counts: [String: Int], _ values: [String: ConfigValue]) -> ConfigReader.Result {
  var found = ConfigReader.Result()
  (found.sections, found.counts, found.values) = (["jars"], counts, values)
  return found
}

@Suite("several systems of a kind, and lists in each")
struct SeveralTests {
  private static let kind = DeclaredKind(Jar.self)
  private static let two: [String: ConfigValue] = [
    "jars[0].name": .text("left"), "jars[1].name": .text("right"), "jars[1].lid": .text("GPIO6"),
    "jars[1].chip": .text("/dev/spidev0.1"), "jars[1].layers[0].grams": .integer(7),
    "jars[1].layers[1].fruit": .text("fig"),
  ]
  private static let counts = ["jars": 2, "jars[1].layers": 2]

  @Test(
    "two items of the list: two systems with names, keys and claims of their own; a list that is not given has its default"
  )
  func two() throws {
    let reading = Self.kind.reading(of: found(Self.counts, Self.two), file: "j.yaml")
    #expect(reading.errors.isEmpty)
    let jars = try reading.systems.map { try #require($0 as? ConfiguredSystem<Jar>) }
    #expect(jars.map(\.name) == ["jar/left", "jar/right"])
    #expect(jars[0].wiring.layers == [Jar.Layer()])
    #expect(jars[1].wiring.layers == [Jar.Layer(grams: 7), Jar.Layer(fruit: .fig)])
    let claims = jars.flatMap(\.claims)
    #expect(Set(claims.map(\.key)) == ["jars[0].lid", "jars[0].chip", "jars[1].lid", "jars[1].chip"])
    #expect(claims.map(\.resource).contains(.spi(path: "/dev/spidev0.1")))
    #expect(claims.errors(file: "j.yaml", places: ConfigPlaces(marks: [:])).isEmpty)
  }

  @Test("two on one line are an error of the file, at the key of the second")
  func oneLine() {
    var values = Self.two
    values["jars[1].lid"] = nil
    let reading = Self.kind.reading(of: found(Self.counts, values), file: "j.yaml")
    let errors = reading.systems.flatMap(\.claims).errors(file: "j.yaml", places: ConfigPlaces(marks: [:]))
    #expect(errors.map(\.key) == ["jars[1].lid"])
  }

  @Test(
    "a name that is given twice, by default too, or that is none",
    arguments: [
      ("left", "expected another name than jars[0].name (by default), got left"), ("Left", "got Left"),
      ("a/b", "got a/b"), ("", "got "), ("abcdefghijklmnopq", "at most 16"),
    ])
  func names(second: String, complaint: String) throws {
    var values = Self.two
    values["jars[1].name"] = .text(second)
    let errors = Self.kind.reading(of: found(Self.counts, values), file: "j.yaml").errors
    #expect(errors.count == 1 && errors[0].key == "jars[1].name" && errors[0].message.contains(complaint), "\(errors)")
    let unnamed = Self.kind.reading(of: found(["jars": 2], [:]), file: "j.yaml").errors
    #expect(unnamed.map(\.key) == ["jars[1].name"])
    #expect(Self.kind.reading(of: found(["jars": 1], [:]), file: "j.yaml").systems.map(\.name) == ["jar/one"])
  }

  @Test("what an item of a list contradicts in itself names the item")
  func contradiction() {
    var values = Self.two
    values["jars[1].layers[1].grams"] = .integer(501)
    let errors = Self.kind.reading(of: found(Self.counts, values), file: "j.yaml").errors
    #expect(errors.map(\.key) == ["jars[1].layers[1].grams"])
    #expect(errors.first?.message == "expected at most 500 of figs, got 501")
  }

  @Test("the table of keys has them with their lists")
  func table() {
    #expect(Self.kind.lists == ["jars": 3, "jars[].layers": 3])
    #expect(
      Self.kind.keys.map(\.path).prefix(7) == [
        "jars[].name", "jars[].lid", "jars[].chip", "jars[].days", "jars[].layers[].grams", "jars[].layers[].fruit",
        "runtime.jar.scheduling",
      ])
  }

  @Test("each has a lane, a loop, a bus and topics of its own; their metrics are one family with a label")
  func hosted() throws {
    let reading = Self.kind.reading(of: found(Self.counts, Self.two), file: "j.yaml")
    let systems = try reading.systems.map { configured in
      try HostedSystem(configured as! ConfiguredSystem<Jar>, simulate: true, bell: nil, clock: .tick, now: { .zero })
    }
    #expect(systems.map(\.name) == ["jar/left", "jar/right"])
    #expect(systems.map(\.loopName) == ["jar/left", "jar/right"])
    #expect(
      systems.flatMap { $0.simulation?.buses.map(\.name) ?? [] }.sorted() == [
        "jar-left-gpio", "jar-left-spidev0.0", "jar-right-gpio", "jar-right-spidev0.1",
      ])
    var writer = MetricsWriter()
    for source in Daemon.metrics(of: systems) { source.write(into: &writer) }
    #expect(writer.text.contains("tactus_jar_fills_total{jar=\"left\"} 0\ntactus_jar_fills_total{jar=\"right\"} 0\n"))
    #expect(writer.text.contains("tactus_jar_state{jar=\"right\",state=\"idle\"} 1\n"))
    let topics = try #require(DeviceTopics(device: "kitchen"))
    let entities = systems[1].door.entities(on: topics, takesCommands: true)
    #expect(entities.map(\.id).contains("jar-right-fills"))
    #expect(entities.allSatisfy { !$0.id.contains("/") })
    #expect(entities[0].stateTopic == "tactus/kitchen/jar/right/state")
    let paths = systems[1].door.routes.map(\.path)
    #expect(paths.contains("/api/jar/right") && paths.contains("/api/jar/right/fill"))
  }

  @Test("a command on the broker reaches the one that its topic names")
  func broker() async throws {
    let reading = Self.kind.reading(of: found(Self.counts, Self.two), file: "j.yaml")
    let doors = try reading.systems.map { configured in
      try HostedSystem(configured as! ConfiguredSystem<Jar>, simulate: true, bell: nil, clock: .tick, now: { .zero })
        .door
    }
    let commands = RemoteCommands(doors, link: "mqtt", logger: .init(label: "test"), now: { .zero })
    #expect(commands.topics["POST /api/jar/right/fill"]?.topic == "jar/right/command")
    let answer = await withCheckedContinuation { continuation in
      commands.receive(path: ["jar", "middle"], payload: Array("fill".utf8), isOld: false) {
        continuation.resume(returning: String(decoding: $0, as: UTF8.self))
      }
    }
    #expect(answer.contains("NOT_FOUND"), "\(answer)")
  }
}
