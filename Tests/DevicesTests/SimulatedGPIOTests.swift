import Buses
import Tactus
import Testing

@Suite struct SimulatedGPIOTests {
  /// 17 active high, 27 active low.
  static let pair = [GPIOLine(.bcm(17)), GPIOLine(.bcm(27), isActiveLow: true)]

  func failure(of body: () throws(GPIOError) -> Void) -> GPIOError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  func refusal(of body: () throws(GPIORequestError) -> Void) -> GPIORequestError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: outputs

  @Test("request: inactive at once, each line at its own level; before, the world's")
  func request() throws {
    let bank = SimulatedGPIOBank(highAtRest: [17])
    #expect(bank.isHigh(17) && !bank.isHigh(27) && !bank.isDriven(17))
    let lines = try bank.outputs(Self.pair)
    #expect(!bank.isHigh(17) && bank.isHigh(27) && bank.isDriven(17) && bank.isDriven(27))
    #expect(bank.consumer(17) == "tactus" && bank.consumer(18) == nil)
    var port = lines.port()
    #expect(try port.read() == 0)
    #expect(port.count == 2 && port.all == 0b11)
  }

  @Test("one line for a loop that simulates what hangs on it: active as the line's request says, or as it is stuck")
  func level() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs(Self.pair)
    var port = lines.port()
    let (high, low) = (lines.level(0), lines.level(1))
    #expect(!high.isActive() && !low.isActive())
    try port.set(1, true)
    #expect(!high.isActive() && low.isActive())
    try port.set(mask: 0b11, values: 0b01)
    #expect(high.isActive() && !low.isActive())
    bank.inject(.stuck(line: 27, isHigh: false))
    #expect(low.isActive())
  }

  @Test("set: the lines of the mask in one access, the others stay; read back by their levels")
  func set() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs(Self.pair + [GPIOLine(.bcm(4))])
    var port = lines.port()
    port.now = .milliseconds(5)
    try port.set(mask: 0b011, values: 0b111)
    #expect(bank.isHigh(17) && !bank.isHigh(27) && !bank.isHigh(4))
    #expect(try port.read() == 0b011)
    try port.set(0, false)
    try port.set(2, true)
    #expect(try port.read() == 0b110)
    try port.turnAllOff()
    #expect(!bank.isHigh(17) && bank.isHigh(27) && !bank.isHigh(4))
    let log = bank.transactions()
    #expect(log.map(\.operation) == [.request, .set, .read, .set, .set, .read, .set])
    #expect(log[1].lines == 1 << 17 | 1 << 27 && log[1].levels == 1 << 17 && log[1].at == .milliseconds(5))
    #expect(bank.transactionCount == 7 && bank.transactions(since: 5).map(\.sequence) == [5, 6])
  }

  @Test("released: an input that shows the world's level, or the last level kept, as the chip does it")
  func released() throws {
    for release in [SimulatedGPIOBank.Release.becomesInput, .keepsLevel] {
      let bank = SimulatedGPIOBank(release: release)
      do {
        let lines = try bank.outputs(Self.pair)
        var port = lines.port()
        try port.set(0, true)
      }
      #expect(bank.isHigh(17) == (release == .keepsLevel))
      #expect(bank.consumer(17) == nil)
      #expect(bank.transactions().last?.operation == .release)
      _ = try bank.outputs(Self.pair)
    }
  }

  @Test("claimed: refused with the line and its holder, and nothing is taken; ours are refused to others")
  func claimed() throws {
    let bank = SimulatedGPIOBank()
    bank.inject(.claimed(line: 27, consumer: "spi0 CS1"))
    #expect(
      refusal { () throws(GPIORequestError) in _ = try bank.outputs(Self.pair) }
        == .claimed(.bcm(27), consumer: "spi0 CS1"))
    #expect(bank.consumer(17) == nil && !bank.isDriven(17))
    bank.clearFaults()
    let lines = try bank.outputs(Self.pair, consumer: "valves")
    #expect(
      refusal { () throws(GPIORequestError) in _ = try bank.events([GPIOInput(.bcm(17))]) }
        == .claimed(.bcm(17), consumer: "valves"))
    withExtendedLifetime(lines) {}
  }

  @Test("no such line, by name and by offset")
  func unknown() {
    let bank = SimulatedGPIOBank(count: 8)
    for text in ["GPIO8", "LED", "gpiochip0:8"] {
      let name = GPIOLineName(text)!
      #expect(refusal { () throws(GPIORequestError) in _ = try bank.outputs([GPIOLine(name)]) } != nil)
    }
    #expect(throws: Never.self) { try bank.outputs([GPIOLine(GPIOLineName("gpiochip0:7")!)]) }
  }

  @Test("stuck: the line shows its level whatever is set, and the read-back tells")
  func stuck() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs(Self.pair)
    var port = lines.port()
    bank.inject(.stuck(line: 17, isHigh: true))
    try port.turnAllOff()
    #expect(try port.read() == 0b01)
    #expect(bank.activeFaults == [.stuck(line: 17, isHigh: true)])
    bank.clearFaults()
    #expect(try port.read() == 0)
  }

  @Test("gone: every access fails and is logged as ENODEV; the line keeps what it drove")
  func gone() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs(Self.pair)
    var port = lines.port()
    try port.set(0, true)
    bank.inject(.gone)
    #expect(failure { () throws(GPIOError) in try port.turnAllOff() } == .gone)
    #expect(failure { () throws(GPIOError) in _ = try port.read() } == .gone)
    #expect(bank.transactions(since: 2).map(\.result) == [-19, -19])
    #expect(bank.isHigh(17) && bank.activeFaults == [.gone])
  }

  @Test("recording: accesses pass through, lines and values as the port numbers them")
  func recording() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs(Self.pair)
    let recording = RecordingGPIOLines(lines.port())
    var port = recording.port()
    port.now = .milliseconds(3)
    try port.set(1, true)
    #expect(!bank.isHigh(27))
    #expect(try port.read() == 0b10)
    let log = recording.transactions()
    #expect(log.map(\.operation) == [.set, .read] && log.map(\.levels) == [0b10, 0b10])
    #expect(log.map(\.lines) == [0b10, 0b11] && log[0].at == .milliseconds(3))
  }

  // MARK: inputs

  func edges(_ port: inout GPIOEvents, at time: Int64, capacity: Int = 64) -> [String] {
    var batch = GPIOEdgeBatch(capacity: capacity)
    port.now = .milliseconds(time)
    _ = try! port.receive(into: &batch)
    return (0..<batch.count).map {
      "\(batch[$0].line)\(batch[$0].isRising ? "↑" : "↓")\(batch[$0].at.nanoseconds / 1_000_000) #\(batch[$0].sequence)"
    }
  }

  @Test("edges: the ones asked for, at their own instants, when the loop's time has come to them")
  func edges() throws {
    let bank = SimulatedGPIOBank()
    let events = try bank.events([GPIOInput(.bcm(5)), GPIOInput(.bcm(6), isActiveLow: true, edges: .both)])
    var port = events.port()
    #expect(try port.read() == 0b10, "low is active")
    bank.pulse(5, at: .milliseconds(10), width: .milliseconds(5))
    bank.set(6, isHigh: true, at: .milliseconds(20))
    bank.set(6, isHigh: true, at: .milliseconds(25))
    bank.set(6, isHigh: false, at: .milliseconds(30))
    #expect(edges(&port, at: 9) == [])
    #expect(edges(&port, at: 20) == ["0↑10 #1", "1↓20 #1"])
    #expect(edges(&port, at: 40) == ["1↑30 #2"])
    #expect(try port.read() == 0b10)
  }

  @Test("debounce: a level counts when it has stayed; shorter ones never happened")
  func debounce() throws {
    let bank = SimulatedGPIOBank()
    let wakes = SimulatedInput()
    let events = try bank.events([GPIOInput(.bcm(5), edges: .both, debounce: .milliseconds(5))], wakes: wakes)
    var port = events.port()
    for time in [0, 2, 4] as [Int64] { bank.pulse(5, at: .milliseconds(10 + time), width: .milliseconds(1)) }
    bank.set(5, isHigh: true, at: .milliseconds(16))
    #expect(wakes.readyAt.pointee == .milliseconds(15), "the first that could count")
    #expect(edges(&port, at: 15) == [])
    #expect(wakes.readyAt.pointee == .milliseconds(16))
    #expect(edges(&port, at: 16) == [])
    #expect(wakes.readyAt.pointee == .milliseconds(21))
    #expect(edges(&port, at: 21) == ["0↑21 #1"])
    #expect(wakes.readyAt.pointee == .distantFuture)
  }

  @Test("nobody takes them: the newest 16 a line are kept, a pulse count misses none")
  func overflow() throws {
    let bank = SimulatedGPIOBank()
    let events = try bank.events([GPIOInput(.bcm(5))])
    var port = events.port()
    var count = GPIOPulseCount()
    for time in 0..<100 { bank.pulse(5, at: .milliseconds(Int64(10 * time + 10)), width: .milliseconds(1)) }
    port.now = .milliseconds(2_000)
    var batch = GPIOEdgeBatch(capacity: 10)
    var drains: [Int] = []
    repeat {
      _ = try port.receive(into: &batch)
      drains.append(batch.count)
      for index in 0..<batch.count { count.add(batch[index]) }
    } while batch.count == batch.capacity
    #expect(drains == [10, 6])
    #expect(count.count == 100 && count.dropped == 84)
    #expect(count.last == .milliseconds(1_000) && count.interval == .milliseconds(10))
  }

  @Test("more changes than the bank holds for a loop that does not listen: refused, not lost silently")
  func full() throws {
    let bank = SimulatedGPIOBank()
    let events = try bank.events([GPIOInput(.bcm(5))])
    for time in 0..<4_096 { #expect(bank.set(5, isHigh: time % 2 == 0, at: .milliseconds(Int64(time)))) }
    #expect(!bank.set(5, isHigh: true, at: .milliseconds(5_000)))
    withExtendedLifetime(events) {}
  }

  @Test("a driver's changes and the bank's: in the order of their instants, debounced and waking alike")
  func driver() throws {
    let bank = SimulatedGPIOBank()
    let wakes = SimulatedInput()
    let events = try bank.events(
      [GPIOInput(.bcm(5), edges: .both), GPIOInput(.bcm(6), edges: .both, debounce: .milliseconds(2))], wakes: wakes)
    var port = events.port()
    var driver = events.driver(1)
    bank.set(5, isHigh: true, at: .milliseconds(20))
    driver.set(isHigh: true, at: .milliseconds(10))
    #expect(bank.isHigh(6) && wakes.readyAt.pointee == .milliseconds(12))
    driver.set(isHigh: false, at: .milliseconds(30))
    driver.set(isHigh: true, at: .milliseconds(31))
    bank.set(5, isHigh: false, at: .milliseconds(32))
    #expect(bank.isHigh(6))
    #expect(edges(&port, at: 20) == ["1↑12 #1", "0↑20 #1"])
    #expect(edges(&port, at: 40) == ["0↓32 #2"])
    driver.set(isHigh: false, at: .milliseconds(41))
    #expect(!bank.isHigh(6))
    #expect(edges(&port, at: 50) == ["1↓43 #2"])
    #expect(try port.read() == 0)
  }

  @Test("more changes than wait for a loop that does not listen: the driver is told")
  func driverFull() throws {
    let bank = SimulatedGPIOBank()
    let events = try bank.events([GPIOInput(.bcm(5))])
    var driver = events.driver()
    for time in 0..<4_096 {
      let isTaken = driver.set(isHigh: time % 2 == 0, at: .milliseconds(Int64(time)))
      #expect(isTaken)
    }
    let isTaken = driver.set(isHigh: true, at: .milliseconds(5_000))
    #expect(!isTaken)
  }

  @Test("gone: a drain fails and leaves the batch empty")
  func eventsGone() throws {
    let bank = SimulatedGPIOBank()
    let events = try bank.events([GPIOInput(.bcm(5))])
    var port = events.port()
    bank.inject(.gone)
    var batch = GPIOEdgeBatch()
    #expect(failure { () throws(GPIOError) in _ = try port.receive(into: &batch) } == .gone)
    #expect(batch.count == 0)
  }
}

@Suite struct GPIOLineNameTests {
  @Test(
    "names: by line, by BCM number, by chip and offset",
    arguments: [
      ("GPIO17", "GPIO17"), ("17", "GPIO17"), ("0", "GPIO0"), ("ID_SDA", "ID_SDA"), ("gpiochip0:17", "gpiochip0:17"),
      ("pinctrl-rp1:4", "pinctrl-rp1:4"), ("/dev/gpiochip4:27", "/dev/gpiochip4:27"),
    ])
  func reads(text: String, written: String) {
    #expect(GPIOLineName(text)?.description == written)
    #expect(GPIOLineName(written) == GPIOLineName(text))
  }

  @Test(
    "no names: empty, spaces, commas, too long, numbers out of range",
    arguments: [
      "", " ", "GPIO 17", "a,b", "54", "-1", "+1", ":17", "gpiochip0:", "gpiochip0:-1", "gpiochip0:+1",
      "gpiochip0:1024", "gpiochip0:x", "grün", String(repeating: "x", count: 32), "99999999999999999999",
    ])
  func refuses(text: String) {
    #expect(GPIOLineName(text) == nil)
  }
}

extension TickInstant {
  fileprivate static func milliseconds(_ count: Int64) -> TickInstant { TickInstant(nanoseconds: count * 1_000_000) }
}
