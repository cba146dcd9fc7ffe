import Buses
import Devices
import Tactus
import Testing
import Wire

@testable import Leg

@Suite struct LegSerialLinkTests {
  private static let ping: [UInt8] = [0x00, 0x03, 0x01, 0x04, 0x01, 0x03, 0xB4, 0x2E, 0x00]

  private func receive(_ port: inout DatagramPort, capacity: Int = 16) -> (messages: [[UInt8]], isFull: Bool) {
    var batch = DatagramBatch(capacity: capacity, size: 64)
    let isFull = port.receive(into: &batch)
    let messages = (0..<batch.count).map { index in
      #expect(batch.source(index) == .linkPeer)
      return Array(batch.bytes(index)!)
    }
    return (messages, isFull)
  }

  private func send(_ bytes: [UInt8], _ port: inout DatagramPort) -> Bool {
    var isSent = false
    bytes.withUnsafeBytes { isSent = port.send($0, to: .linkPeer) }
    return isSent
  }

  private func write(_ bytes: [UInt8], to line: SimulatedSerialPort) {
    #expect(bytes.withUnsafeBytes { line.device.write($0) } == bytes.count)
  }

  private func read(_ line: SimulatedSerialPort) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
    return Array(bytes[..<count])
  }

  @Test("a message out is one frame on the line; noise and a frame in are one message; the bytes discarded are counted")
  func bothWays() {
    let line = SimulatedSerialPort()
    let link = LegSerialLink(line.port())
    var port = link.port(descriptor: nil)
    #expect(send([1, 4, 0, 0], &port))
    #expect(read(line) == Self.ping)
    write([0x55, 0xAA] + Self.ping, to: line)
    #expect(receive(&port).messages == [[1, 4, 0, 0]])
    #expect(receive(&port).messages.isEmpty)
    #expect(
      link.counters
        == LegSerialCounters(received: 1, sent: 1, refused: 1, discardedBytes: 2, notSent: 0, isGone: false))
    withExtendedLifetime(line) {}
  }

  @Test("a frame in pieces: complete with its last byte; more frames than a batch holds: the rest comes next")
  func pieces() {
    let line = SimulatedSerialPort()
    let link = LegSerialLink(line.port())
    var port = link.port(descriptor: nil)
    for byte in Self.ping.dropLast() {
      write([byte], to: line)
      #expect(receive(&port).messages.isEmpty)
    }
    write([0], to: line)
    #expect(receive(&port).messages.count == 1)
    for _ in 0..<5 { write(Self.ping, to: line) }
    let first = receive(&port, capacity: 3)
    #expect(first.messages.count == 3 && first.isFull)
    #expect(receive(&port, capacity: 3).messages.count == 2)
    withExtendedLifetime((line, link)) {}
  }

  @Test("line full, unplugged, message too long: not sent, and counted; plugged in again: sent")
  func faults() {
    let line = SimulatedSerialPort()
    let link = LegSerialLink(line.port())
    var port = link.port(descriptor: nil)
    line.inject(.full)
    #expect(!send([1, 4, 0, 0], &port) && !link.counters.isGone)
    line.inject(.gone)
    #expect(!send([1, 4, 0, 0], &port) && link.counters.isGone && receive(&port).messages.isEmpty)
    line.clearFaults()
    #expect(!send(Array(repeating: 1, count: 21), &port) && !send([], &port))
    #expect(send([1, 4, 0, 0], &port) && !link.counters.isGone)
    #expect(link.counters.notSent == 2 && link.counters.sent == 1)
    withExtendedLifetime(line) {}
  }

  @Test(
    "both loops on one line: armed, driven and kept alive; the line is cut: the pulse ends 200 ms after the last command"
  )
  func loops() throws {
    let (leg, person) = (SimulatedSerialPort(), SimulatedSerialPort())
    let (legLink, operatorLink) = (LegSerialLink(leg.port()), LegSerialLink(person.port()))
    let chip = PCA9685Simulator()
    let bus = SimulatedI2CBus()
    bus.attach(chip.chip, at: PCA9685.standardAddress)
    let legs = [LegConfiguration(channel: try ServoChannel(0))]
    let mailbox = try LegLoop.mailbox(legs)
    let pulse = Latest(PulseWidth.microseconds(1800))
    let requests = Ring<LegOperatorRequest>(capacity: 16)
    let operatorOutput = Latest(LegOperatorSnapshot())
    let runtime = try Runtime {
      Lane("leg") {
        Loop("leg", every: .hertz(1000)) {
          LegLoop(
            ends: mailbox.loopEnds(), servos: legs.map(\.channel), chip: PCA9685(), on: bus.port(),
            ports: ports(legLink))
        }
      }
      Lane("operator") {
        Loop("operator", every: LegOperatorLoop.rate, phase: .milliseconds(3)) {
          LegOperatorLoop(
            port: operatorLink.port(descriptor: nil), leg: .linkPeer, pulse: pulse.reader(),
            requests: requests.reader(), snapshot: operatorOutput.writer())
        }
      }
    }
    let simulation = try runtime.simulation()
    var ask = requests.writer()
    var legSeen = mailbox.state.reader()
    var operatorSeen = operatorOutput.reader()
    func run(_ milliseconds: Int, carrying: Bool = true) {
      for _ in 0..<milliseconds {
        simulation.run(for: .milliseconds(1))
        guard carrying else { continue }
        // Noise that holds no zero costs no frame.
        write([0x7F] + read(person), to: leg)
        write(read(leg), to: person)
      }
    }
    run(300)
    #expect(operatorSeen.read().state == .connected)
    #expect(ask.push(.arm) && ask.push(.periodic(true)))
    run(1_000)
    #expect(legSeen.read().state[0].pulse == .microseconds(1800))
    #expect(operatorSeen.read().heard?.telemetry.state == .armed)
    #expect(legLink.counters.refused > 0 && operatorLink.counters.refused == 0)
    let lastCommand = try #require(legSeen.read().state[0].lastCommand)
    run(Int((lastCommand + .milliseconds(199) - simulation.now).count / 1_000_000), carrying: false)
    #expect(legSeen.read().state[0].pulse != nil)
    run(2, carrying: false)
    guard case .fault(.silence, .confirmed) = legSeen.read().state[0].state else {
      Issue.record("\(legSeen.read().state[0].state)")
      return
    }
    withExtendedLifetime((leg, person, chip, bus)) {}
  }

  private func ports(_ link: LegSerialLink) -> LegPorts {
    var ports = LegPorts()
    ports.append(link.port(descriptor: nil))
    return ports
  }
}
