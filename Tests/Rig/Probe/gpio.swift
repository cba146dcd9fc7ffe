import Buses
import BusesLinux
import Glibc
import Tactus

/// The checks of `rig-probe --gpio CHIP LABEL PINS`: a gpio-sim chip, and the folder with `sim_gpioN/value` and `/pull`. Lines 1,
/// 2, 4 and 5 are named GPIO17, GPIO27, GPIO5 and GPIO6; line 3, GPIO9, belongs to "rig-hog".
func checkGPIO(path: String, label: String, pins: String) {
  let chipName = String(path.dropFirst(5))
  func level(_ line: Int) -> String { contents("\(pins)/sim_gpio\(line)/value") }
  func pull(_ line: Int, _ up: Bool) { write(up ? "pull-up" : "pull-down", to: "\(pins)/sim_gpio\(line)/pull") }
  let pair = [GPIOLine(.bcm(17)), GPIOLine(.bcm(27), isActiveLow: true)]

  check("GPIO: a chip tells its name, label and lines, and who uses them") {
    let chip = try LinuxGPIOChip.all().first { $0.label == label }!
    try expect([chip.path, chip.name, "\(chip.lineCount)"], [path, chipName, "8"])
    let lines = try chip.lines()
    try expect(lines.map(\.name), ["", "GPIO17", "GPIO27", "GPIO9", "GPIO5", "GPIO6", "", ""])
    try expect(lines.filter(\.isUsed).map { "\($0.offset) \($0.consumer) \($0.isOutput)" }, ["3 rig-hog true"])
  }

  check("GPIO: a request makes outputs, each inactive at its own level, whatever pulled the line") {
    pull(1, true)
    pull(2, false)
    try expect([level(1), level(2)], ["1", "0"])
    let lines = try LinuxGPIOLines(pair)
    try expect([level(1), level(2)], ["0", "1"])
    try expect(lines.chipPath, path)
    try expect(lines.offsets, [1, 2])
  }

  check("GPIO: released lines are what pulls them, and can be requested again") {
    try expect([level(1), level(2)], ["1", "0"])
    _ = try LinuxGPIOLines(pair)
  }

  check("GPIO: a set reaches the lines of its mask and no others; values read back are logical") {
    let owner = try LinuxGPIOLines(pair + [GPIOLine(GPIOLineName("\(label):0")!)])
    var port = owner.port()
    try port.set(mask: 0b011, values: 0b011)
    try expect([level(1), level(2), level(0)], ["1", "0", "0"])
    try expect(try port.read(), 0b011)
    try port.set(0, false)
    try port.set(2, true)
    try expect([level(1), level(2), level(0)], ["0", "0", "1"])
    try expect(try port.read(), 0b110)
    try port.turnAllOff()
    try expect([level(1), level(2), level(0)], ["0", "1", "0"])
  }

  check("GPIO: by name, by number and by label the same line; a wrong name is refused by name") {
    for text in ["GPIO17", "17", "\(chipName):1", "\(path):1", "\(label):1"] {
      try expect(try LinuxGPIOLines([GPIOLine(GPIOLineName(text)!)]).offsets, [1])
    }
    try expectError(GPIORequestError.noSuchLine(.bcm(40), chip: nil)) { _ = try LinuxGPIOLines([GPIOLine(.bcm(40))]) }
    let beyond = GPIOLineName("\(label):8")!
    try expectError(GPIORequestError.noSuchLine(beyond, chip: chipName)) {
      _ = try LinuxGPIOLines([GPIOLine(beyond)])
    }
  }

  check("GPIO: lines of a kernel driver, of ourselves, and of another consumer are refused with the holder's name") {
    try expectError(GPIORequestError.claimed(.bcm(9), consumer: "rig-hog")) {
      _ = try LinuxGPIOLines([GPIOLine(.bcm(17)), GPIOLine(.bcm(9))])
    }
    let valves = try LinuxGPIOLines(pair, consumer: "valves")
    try expectError(GPIORequestError.claimed(.bcm(27), consumer: "valves")) {
      _ = try LinuxGPIOEvents([GPIOInput(.bcm(27))])
    }
    withExtendedLifetime(valves) {}
  }

  check("GPIO: rising edges are counted, each with its time by CLOCK_MONOTONIC; the descriptor polls") {
    pull(4, false)
    let owner = try LinuxGPIOEvents([GPIOInput(.bcm(6)), GPIOInput(.bcm(5))])
    var port = owner.port()
    var batch = GPIOEdgeBatch()
    var count = GPIOPulseCount()
    _ = try port.receive(into: &batch)
    try expect(batch.count, 0)
    for pulse in 1...10 {
      let before = MonotonicClock.now
      pull(4, true)
      pull(4, false)
      try expect(isReadable(owner.descriptor, within: 1_000), true)
      let after = MonotonicClock.now
      _ = try port.receive(into: &batch)
      try expect(batch.count, 1)
      try expect(batch[0].line == 1 && batch[0].isRising && before <= batch[0].at && batch[0].at <= after, true)
      count.add(batch[0])
      try expect(count.count, Int64(pulse))
    }
    try expect(isReadable(owner.descriptor, within: 0), false)
    pull(4, true)
    try expect(try port.read(), 0b10)
  }

  check("GPIO: both edges of an active-low line; falling is to inactive") {
    pull(4, true)
    let owner = try LinuxGPIOEvents([GPIOInput(.bcm(5), isActiveLow: true, edges: .both)])
    var port = owner.port()
    var batch = GPIOEdgeBatch()
    pull(4, false)
    try expect(isReadable(owner.descriptor, within: 1_000), true)
    _ = try port.receive(into: &batch)
    try expect(batch.count == 1 && batch[0].isRising, true)
    pull(4, true)
    try expect(isReadable(owner.descriptor, within: 1_000), true)
    _ = try port.receive(into: &batch)
    try expect(batch.count == 1 && !batch[0].isRising, true)
  }

  check("GPIO: 100 pulses that nobody takes: the kernel keeps 16, a pulse count misses none") {
    pull(4, false)
    let owner = try LinuxGPIOEvents([GPIOInput(.bcm(5))])
    var port = owner.port()
    var batch = GPIOEdgeBatch()
    var count = GPIOPulseCount()
    for _ in 0..<100 {
      pull(4, true)
      pull(4, false)
      // The interrupt's thread runs before the next.
      _ = isReadable(owner.descriptor, within: 100)
      sched_yield()
    }
    _ = try port.receive(into: &batch)
    for index in 0..<batch.count { count.add(batch[index]) }
    try expect([Int64(batch.count), count.count, count.dropped], [16, 100, 84])
  }

  check("GPIO: a debounce of 20 ms: short pulses do not count, a level that stays does") {
    pull(4, false)
    let owner = try LinuxGPIOEvents([GPIOInput(.bcm(5), debounce: .milliseconds(20))])
    var port = owner.port()
    var batch = GPIOEdgeBatch()
    for _ in 0..<3 {
      pull(4, true)
      pull(4, false)
    }
    try expect(isReadable(owner.descriptor, within: 100), false)
    let raised = MonotonicClock.now
    pull(4, true)
    try expect(isReadable(owner.descriptor, within: 1_000), true)
    _ = try port.receive(into: &batch)
    try expect(batch.count == 1 && batch[0].isRising && (batch[0].at - raised).count >= 20_000_000, true)
    pull(4, false)
  }
}

/// `rig-probe --hold LABEL COMMAND…`: requests GPIO17 and, active low, GPIO27, drives both and becomes COMMAND, which has them
/// as descriptor 9.
func holdGPIO(label: String, command: [String]) -> Never {
  do {
    let chips = try LinuxGPIOChip.all().filter { $0.label == label }
    let owner = try LinuxGPIOLines([GPIOLine(.bcm(17)), GPIOLine(.bcm(27), isActiveLow: true)], among: chips)
    var port = owner.port()
    try port.set(mask: port.all, values: port.all)
    dup2(owner.descriptor, 9)
    var arguments = command.map { strdup($0) } + [nil]
    execvp(command[0], &arguments)
    print("\(command[0]): errno \(errno)")
  } catch {
    print("\(error)")
  }
  exit(1)
}

private func contents(_ path: String) -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "no \(path)" }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = read(descriptor, &bytes, bytes.count)
  return String(decoding: bytes[..<max(0, count)].filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

private func write(_ text: String, to path: String) {
  let descriptor = open(path, O_WRONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return }
  defer { close(descriptor) }
  _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
}

private func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
  var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&wait, 1, milliseconds) > 0
}
