import Buses
import BusesLinux
import DaemonSupport
import Foundation
import Logging
import Synchronization
import Tactus
import Testing

@testable import Service
@testable import TactusDaemon

/// A heater that stops while its thermometer is silent.
private enum Heater: DeviceSystem {
  static let name = "heater"
  static let summary = "A heater that stops while its thermometer is silent."
  static let initialState = State()
  static let emergencyStop = Order.off
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.off
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal
  enum Order: BitwiseCopyable, Sendable { case on, off }
  enum Notice: String, NoticeWord {
    case noTemperature
    var isTrouble: Bool { true }
    var sentence: String { "the thermometer has no value; the heater is off until it has one" }
  }

  struct Wiring: Settings {
    var relay = GPIOLineName.bcm(17)
    var probe = KernelSensorName("w1:28-0316a2795bff")!
    static var keys: [Key<Wiring>] {
      Key("relay", \.relay, "The line of the relay.")
      Key("probe", \.probe, "The thermometer.").found(by: .kernelSensor)
    }
  }
  struct State: BitwiseCopyable, Sendable {
    var isOn = false
    var celsius: Double?
  }

  static var fields: [Field<State>] {
    Field("on", \.isOn, "Whether it is wanted on.")
    Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature; null while unknown.")
  }
  static var commands: [Command<Order>] {
    Command("on", "Turns it on.") { .on }
    Command("off", makesSafe: true, "Turns it off.") { .off }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let relay = try bench.output(\.relay, safe: .inactive)
    let probe = try bench.sensor(\.probe, measures: .celsius, every: .hertz(1), staleAfter: .seconds(3))
    let loop = mailbox.loop("heater", every: .hertz(10), safeStateAfter: 5) {
      HeaterLoop(ends: $0, relay: relay.port(), probe: probe.port())
    }
    return [loop] + bench.twin("heater.simulated", every: .hertz(1)) { HeaterTwin(probe: probe.driver()) }
  }
}

private struct HeaterLoop: ~Copyable, ControlLoop {
  var ends: Heater.Ends
  var relay: GPIOLines
  var probe: SensorInput
  var state = Heater.State()

  init(ends: consuming Heater.Ends, relay: consuming GPIOLines, probe: consuming SensorInput) {
    self.ends = ends
    self.relay = relay
    self.probe = probe
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .on = request.order { state.isOn = true } else { state.isOn = false }
      ends.answer(request, .accepted)
    }
    measure(at: tick.started)
    drive(state.isOn && state.celsius != nil, at: tick.started)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    state.isOn = false
    drive(false, at: tick.started)
  }

  @_noLocks @_noAllocation
  private mutating func measure(at now: TickInstant) {
    probe.now = now
    do throws(SensorError) {
      state.celsius = try probe.read()
    } catch {
      if state.celsius != nil { ends.report(.noTemperature) }
      state.celsius = nil
    }
  }

  @_noLocks @_noAllocation
  private mutating func drive(_ isOn: Bool, at now: TickInstant) {
    relay.now = now
    do throws(GPIOError) {
      try relay.set(0, isOn)
      ends.finish(state, isSafe: !isOn)
    } catch {
      ends.finish(state, isSafe: false)
    }
  }
}

private struct HeaterTwin: ~Copyable, ControlLoop, NoOutput {
  var probe: SimulatedSensorDriver

  init(probe: consuming SimulatedSensorDriver) { self.probe = probe }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { probe.set(21.5, at: tick.started) }
}

/// The lines of a logger, each with its failure.
private final class Lines: Sendable {
  let all = Mutex<[String]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      let failure = event.metadata?["failure"].map { ": \($0)" } ?? ""
      lines.all.withLock { $0.append("\(event.message)\(failure)") }
    }
  }
}

@Suite("sensors of a bench")
struct SensorTests {
  @Test("simulated: silent, the value is stale after its limit and the output off; back by itself when it reads again")
  func silence() throws {
    let system = try HostedSystem(ConfiguredSystem<Heater>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    let part = try #require(system.simulation?.buses.first { $0.name == "heater-probe" })
    #expect(part.possibleFaults == ["gone", "silence"])
    simulation.run(for: .seconds(2))
    #expect(system.door.newest.celsius == 21.5)
    for fault in [SimulatedFault.Name.silence, .gone] {
      try part.inject(SimulatedFault(fault, bus: part.name))
      simulation.run(for: .seconds(1))
      #expect((system.door.newest.celsius == nil) == (fault == .gone))
      simulation.run(for: .seconds(4))
      #expect(system.door.newest.celsius == nil)
      #expect(system.takeNotices().count == 1)
      part.clearFaults()
      simulation.run(for: .seconds(2))
      #expect(system.door.newest.celsius == 21.5)
    }
    simulation.stop()
  }

  @Test("real: read beside the loop, a failure is logged once with its file, and so is its end")
  func reader() throws {
    let folder = try TemporaryFolder()
    let probe = folder.path("sys/bus/w1/devices/28-0316a2795bff")
    let name = try #require(KernelSensorName("w1:28-0316a2795bff"))
    let part = SensorPart(
      name, measures: .celsius, every: .hertz(100), staleAfter: .seconds(60), isReal: true,
      root: String(folder.path("sys").dropLast(4)))
    let (reader, log) = (SensorReader("heater"), Lines())
    reader.add(part)
    reader.start()
    var input = part.port()
    let bell = try Doorbell()
    func reads(_ wanted: Double?) -> Bool {
      let until = MonotonicClock.now + .seconds(60)
      while MonotonicClock.now < until {
        input.now = MonotonicClock.now
        if (try? input.read()) == wanted, (part.trouble == nil) == (wanted != nil) { return true }
        bell.wait(limit: .milliseconds(10))
      }
      return false
    }
    #expect(reads(nil))
    reader.mend(log.logger)
    reader.mend(log.logger)
    try FileManager.default.createDirectory(atPath: probe, withIntermediateDirectories: true)
    try "23125\n".write(toFile: probe + "/temperature", atomically: true, encoding: .utf8)
    #expect(reads(23.125))
    reader.mend(log.logger)
    try "85000\n".write(toFile: probe + "/temperature", atomically: true, encoding: .utf8)
    #expect(reads(nil))
    reader.mend(log.logger)
    reader.stop()
    let lines = log.all.withLock { $0 }
    #expect(
      lines == [
        "a sensor cannot be read: /sys/bus/w1/devices/28-0316a2795bff: no such thermometer", "a sensor is read again",
        "a sensor cannot be read: /sys/bus/w1/devices/28-0316a2795bff/temperature: "
          + "85.0 °C is what a chip says that has no power or has not measured",
      ])
  }

  @Test("doctor: the sensor is there, is not, measures something else; with its key")
  func doctor() throws {
    func found(_ files: [String: String]) throws -> String {
      var machine = Machine.at(root: "/nowhere")
      machine.read = { files[$0] }
      machine.list = { folder in
        files.keys.filter { $0.hasPrefix(folder + "/") }.compactMap {
          $0.dropFirst(folder.count + 1).split(separator: "/").first.map(String.init)
        }
      }
      let planned = try ConfiguredSystem<Heater>().sensors
      var other = planned
      other[0].quantity = .volts
      return Doctor(machine: machine).sensors(planned + other)
        .map { "\($0.name) \($0.status): \($0.found)\($0.fix == nil ? "" : "!")" }.joined(separator: "; ")
    }
    let folder = "/sys/bus/w1/devices/28-0316a2795bff"
    #expect(
      try found(["\(folder)/temperature": "23125"])
        == "heater.probe ok: \(folder)/temperature; "
        + "heater.probe fail: \(folder)/temperature is a sensor of celsius, not of volts!")
    #expect(try found([:]).hasPrefix("heater.probe fail: \(folder): no such thermometer!"))
  }

  @Test("the key: what it takes, and what an error says")
  func key() throws {
    #expect(ScalarReader.value("hwmon:lm75/temp1", as: .sensor) == .text("hwmon:lm75/temp1"))
    #expect(ScalarReader.value("lm75", as: .sensor) == nil)
    #expect("\(ConfigKind.sensor)".contains("hwmon:lm75/temp1"))
  }
}
