import Buses
import Devices
import Foundation
import Tactus
import Testing

@Suite struct SimulatedI2CBusTests {
  let simulator = YBPcbCarSimulator()
  let simulated = SimulatedI2CBus(seed: 7, logCapacity: 8)
  init() { simulated.attach(simulator.chip, at: carAddress) }

  func write(_ byte: UInt8, on bus: inout I2CBus) -> I2CError? {
    error { () throws(I2CError) in try bus.writeByte(byte, to: carAddress, register: 0x02) }
  }

  @Test("no chip at the address: EREMOTEIO on every attempt, each logged")
  func unknownAddress() {
    var bus = simulated.port(attempts: 3)
    let failure = error { () throws(I2CError) in
      try bus.writeByte(1, to: raspbotAddress, register: 5)
    }
    #expect(failure == .noAcknowledge(address: raspbotAddress, register: 5))
    #expect(simulated.transactions().map(\.text) == Array(repeating: "2b 05 01 → -121", count: 3))
  }

  @Test("two refusals, three attempts: the third succeeds and counts as a retry")
  func countedRefusals() {
    var bus = simulated.port(attempts: 3)
    simulated.inject(.noAcknowledge(address: carAddress, count: 2))
    #expect(write(0, on: &bus) == nil)
    #expect(bus.retries == 1)
    #expect(simulated.transactions().map(\.result) == [-121, -121, 0])
  }

  @Test("refused until cleared: fails until then, other addresses are not concerned")
  func refusedUntilCleared() {
    let other = RaspbotV2Simulator()
    simulated.attach(other.chip, at: raspbotAddress)
    var bus = simulated.port()
    simulated.inject(.noAcknowledge(address: carAddress, count: nil))
    for _ in 0..<50 { #expect(write(0, on: &bus) == .noAcknowledge(address: carAddress, register: 0x02)) }
    let otherFailure = error { () throws(I2CError) in try bus.writeByte(0, to: raspbotAddress, register: 9) }
    #expect(otherFailure == nil)
    simulated.clearFaults()
    #expect(write(0, on: &bus) == nil)
  }

  @Test("log: in real time each transfer of a tick has a stamp of its own, in simulated time the tick's")
  func stamps() throws {
    let real = SimulatedI2CBus(clock: .monotonic)
    real.attach(YBPcbCarSimulator().chip, at: carAddress)
    let before = MonotonicClock.now
    for bus in [simulated, real] {
      var port = bus.port()
      port.now = before
      try YBPcbCar().stop(on: &port)
    }
    #expect(simulated.transactions().map(\.at) == [before, before])
    let stamps = real.transactions().map(\.at)
    #expect(stamps.count == 2 && before < stamps[0] && stamps[0] < stamps[1] && stamps[1] <= MonotonicClock.now)
  }

  @Test("stuck: every transfer times out, once, until cleared; the chip sees nothing")
  func stuck() {
    var bus = simulated.port(attempts: 3)
    simulated.inject(.stuck)
    #expect(write(0, on: &bus) == .timedOut(address: carAddress, register: 0x02))
    #expect(simulated.transactions().map(\.result) == [-110])
    #expect(simulator.vehicle.snapshot.commands == 0)
    simulated.clearFaults()
    #expect(write(0, on: &bus) == nil)
    #expect(simulator.vehicle.snapshot.commands == 1)
  }

  @Test("300 ‰ random refusals: about 30 % refused, the same ones for the same seed")
  func randomRefusals() {
    func results(seed: UInt64) -> [Int32] {
      let simulated = SimulatedI2CBus(seed: seed, logCapacity: 10_000)
      simulated.attach(YBPcbCarSimulator().chip, at: carAddress)
      simulated.inject(.randomNoAcknowledge(perMille: 300))
      var bus = simulated.port(attempts: 1)
      for _ in 0..<10_000 { _ = write(0, on: &bus) }
      return simulated.transactions().map(\.result)
    }
    let refused = results(seed: 3).count { $0 == -121 }
    #expect((2800...3200).contains(refused), "\(refused)")
    #expect(results(seed: 3) == results(seed: 3))
    #expect(results(seed: 3) != results(seed: 4))
  }

  @Test("log: sequence from 0, the tick's instant, address, register, bytes, result")
  func log() throws {
    var bus = simulated.port()
    bus.now = milliseconds(5)
    try YBPcbCar().drive(speeds(100, -100), on: &bus)
    bus.now = milliseconds(6)
    _ = try bus.readBlock(2, from: carAddress, register: 4)
    let log = simulated.transactions()
    #expect(log.map(\.sequence) == [0, 1])
    #expect(log.map(\.at) == [milliseconds(5), milliseconds(6)])
    #expect(log.map(\.text) == ["16 01 01 ff 00 ff → 0", "16 04 ff ff → 0"])
    #expect(log.map(\.operation) == [.writeBlock, .readBlock])
    #expect(simulated.transactions(since: 1).map(\.sequence) == [1])
    #expect(simulated.transactions(since: 2).isEmpty && simulated.transactions(since: 99).isEmpty)
  }

  @Test("log of 8 after 20 transfers: the last 8 are there, the gap in the sequence tells of the lost ones")
  func overwritten() {
    var bus = simulated.port()
    for byte in 0..<20 { _ = write(UInt8(byte), on: &bus) }
    #expect(simulated.transactions(since: 3).map(\.sequence) == Array(12..<20))
    #expect(simulated.transactions(since: 15).map { $0.bytes[0] } == [15, 16, 17, 18, 19])
  }

  @Test("log read by another thread while the loop writes: every entry is whole, none is twice, the order is kept")
  func concurrentReader() {
    let simulated = self.simulated
    // 16 equal bytes per transfer, so that a torn entry shows.
    let writer = Thread {
      var bus = simulated.port(attempts: 1)
      for number in 0..<20_000 {
        var bytes = I2CBytes()
        for _ in 0..<16 { bytes.append(UInt8(truncatingIfNeeded: number)) }
        _ = error { () throws(I2CError) in try bus.writeBlock(bytes, to: carAddress, register: 0x7F) }
      }
    }
    writer.start()
    var next: Int64 = 0
    while next < 20_000 {
      for transaction in simulated.transactions(since: next) {
        #expect(transaction.sequence >= next)
        #expect(transaction.bytes.array == Array(repeating: UInt8(truncatingIfNeeded: transaction.sequence), count: 16))
        next = transaction.sequence + 1
      }
    }
  }
}

@Suite struct RecordingI2CBusTests {
  @Test("wrapped bus: every attempt is recorded with its result, and the answer is passed on")
  func records() throws {
    let simulated = SimulatedI2CBus()
    simulated.attach(YBPcbCarSimulator().chip, at: carAddress)
    simulated.inject(.noAcknowledge(address: carAddress, count: 1))
    let recording = RecordingI2CBus(simulated.port(attempts: 2))
    var bus = recording.port()
    bus.now = milliseconds(3)
    #expect(bus.attempts == 2)
    try bus.writeByte(0, to: carAddress, register: 2)
    #expect(try bus.readBlock(3, from: carAddress, register: 1).array == [255, 255, 255])
    #expect(recording.transactions().map(\.text) == ["16 02 00 → -121", "16 02 00 → 0", "16 01 ff ff ff → 0"])
    #expect(recording.transactions().map(\.at) == Array(repeating: milliseconds(3), count: 3))
    #expect(simulated.transactions().count == 3)
  }
}

@Suite struct PlaybackI2CBusTests {
  func transfer(_ body: (inout I2CBus) throws(I2CError) -> Void) -> PlaybackI2CBus {
    let playback = PlaybackI2CBus([.writeBlock([1, 2], to: carAddress, register: 3)])
    var bus = playback.port()
    _ = error { () throws(I2CError) in try body(&bus) }
    return playback
  }

  func block(_ bytes: [UInt8]) -> I2CBytes {
    var block = I2CBytes()
    for byte in bytes { block.append(byte) }
    return block
  }

  @Test("the expected transfer: complete")
  func matches() {
    let playback = transfer { bus throws(I2CError) in try bus.writeBlock(block([1, 2]), to: carAddress, register: 3) }
    #expect(playback.isComplete)
  }

  @Test("another byte, register, address, length or operation: a mismatch that shows what came")
  func mismatches() {
    let wrong = [
      transfer { bus throws(I2CError) in try bus.writeBlock(block([1, 3]), to: carAddress, register: 3) },
      transfer { bus throws(I2CError) in try bus.writeBlock(block([1, 2]), to: carAddress, register: 4) },
      transfer { bus throws(I2CError) in try bus.writeBlock(block([1, 2]), to: raspbotAddress, register: 3) },
      transfer { bus throws(I2CError) in try bus.writeBlock(block([1]), to: carAddress, register: 3) },
      transfer { bus throws(I2CError) in _ = try bus.readBlock(2, from: carAddress, register: 3) },
      transfer { bus throws(I2CError) in try bus.plainWrite(block([1, 2]), to: carAddress) },
    ]
    for playback in wrong {
      #expect(playback.mismatch?.index == 0 && playback.remaining == 1 && !playback.isComplete)
    }
  }

  @Test("a transfer too many or too few: not complete")
  func count() {
    let playback = PlaybackI2CBus([.plainWrite([9], to: carAddress)])
    #expect(!playback.isComplete && playback.remaining == 1)
    var bus = playback.port()
    #expect(error { () throws(I2CError) in try bus.plainWrite(block([9]), to: carAddress) } == nil)
    #expect(playback.isComplete)
    #expect(error { () throws(I2CError) in try bus.plainWrite(block([9]), to: carAddress) } != nil)
    #expect(playback.mismatch?.index == 1)
  }

  @Test("reads: answered from the list")
  func reads() throws {
    let playback = PlaybackI2CBus([
      .readBlock([7, 8, 9], from: carAddress, register: 1), .plainRead([5], from: carAddress),
    ])
    var bus = playback.port()
    #expect(try bus.readBlock(3, from: carAddress, register: 1).array == [7, 8, 9])
    #expect(try bus.plainRead(1, from: carAddress).array == [5])
    #expect(playback.isComplete)
  }
}
