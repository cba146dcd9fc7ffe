import Buses
import Devices
import Tactus
import Wire

extension FuzzedDecoder {
  static let boards = [
    FuzzedDecoder(name: "xgo-frames", longest: 256) { bytes in
      var reader = XGOFrameReader()
      var found = 0
      for byte in bytes {
        reader.append(byte)
        while let frame = reader.next() {
          found += frame.count
          expect((8...40).contains(frame.count), "\(frame)")
          _ = (frame.float, (0..<frame.dataCount).map { frame.data($0) })
          expectsAgain(frame)
        }
      }
      let waiting = bytes.count - found - Int(reader.skipped)
      expect((0...40).contains(waiting), "\(bytes.count) bytes: \(found) in frames, \(reader.skipped) skipped")
      reader.reset()
      expectsAgain(.write(bytes.first ?? 0, to: XGOAddress(bytes.last ?? 0)), by: reader)
    },
    FuzzedDecoder(name: "i2c-registers", longest: 128) { bytes in
      let answers = Answers(bytes)
      var bus = I2CBus(context: Unmanaged.passUnretained(answers).toOpaque(), attempts: 2, transfer: answer)
      for range in ADS1115.Range.allCases {
        let chip = ADS1115(range: range)
        _ = try? chip.isReady(Int(bytes.count % 4), on: &bus)
        guard let read = try? chip.read(on: &bus) else { continue }
        expect(read.count.magnitude <= range.fullScaleMicrovolts, "\(read)")
      }
      if let moisture = try? SeesawSoil().moisture(on: &bus) {
        expect(moisture <= SeesawSoil.greatestMoisture, "\(moisture)")
      }
      if let celsius = try? SeesawSoil().temperature(on: &bus) { expect((-40...85).contains(celsius), "\(celsius)") }
      if let code = try? SeesawSoil().hardware(on: &bus) { expect(code == 0x55 || code == 0x87, "\(code)") }
      _ = try? PCA9685().check(on: &bus)
      _ = try? PCA9685().start(on: &bus)
      let expander = MCP23017(address: I2CAddress(0x20)!, outputs: 0x8181, activeLow: 0x0180)
      if let pins = try? expander.read(on: &bus) {
        expect((pins.active | pins.driven) & ~expander.outputs == 0, "\(pins)")
      }
      _ = try? PCF8574(address: I2CAddress(0x38)!).read(on: &bus)
    },
    FuzzedDecoder(name: "spi-answers", longest: 64) { bytes in
      let answers = Answers(bytes)
      var port = SPIPort(context: Unmanaged.passUnretained(answers).toOpaque(), transfer: answerSPI)
      for channel in 0..<8 {
        if let counts = try? MCP3008().read(channel, on: &port) { expect(counts <= 1023, "\(counts)") }
      }
      var thermometer = MAX31865()
      for second in 0..<4 as Range<Int64> {
        port.now = .zero + .seconds(second)
        if case .celsius(let celsius)? = try? thermometer.read(on: &port) {
          expect((-50...300).contains(celsius), "\(celsius)")
        }
      }
    },
  ]

  private static func expectsAgain(_ frame: XGOFrame, by reader: XGOFrameReader = XGOFrameReader()) {
    var reader = reader
    let found = encoded(40) { frame.encode(into: $0) }.compactMap { byte in
      reader.append(byte)
      return reader.next()
    }
    expect(found == [frame], "\(frame) became \(found)")
  }
}

/// A bus whose chips answer as the input says.
private final class Answers {
  var bytes: Bytes
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Bytes(bytes) }
}

private func answer(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let answers = Unmanaged<Answers>.fromOpaque(context).takeUnretainedValue()
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  // One in eight fails, by any error.
  let first = answers.bytes.next()
  if first & 7 == 7 { return -Int32(1 + first >> 3) }
  for index in 0..<transfer.pointee.bytes.count { transfer.pointee.bytes[index] = answers.bytes.next() }
  return 0
}

private func answerSPI(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let answers = Unmanaged<Answers>.fromOpaque(context).takeUnretainedValue()
  let transfer = request.assumingMemoryBound(to: SPITransfer.self)
  for index in 0..<transfer.pointee.bytes.count { transfer.pointee.bytes[index] = answers.bytes.next() }
  return 0
}
