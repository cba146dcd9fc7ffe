import Devices
import Tactus
import Testing
import WireSupport

@Suite struct XGOFrameTests {
  @Test("frame: the library's example frames, byte for byte")
  func examples() {
    #expect(XGOFrame.write(127, to: .forwardSpeed).description == "55 00 09 01 30 7F 46 00 AA")
    #expect(XGOFrame.write(255, to: .forwardSpeed).description == "55 00 09 01 30 FF C6 00 AA")
    #expect(XGOFrame.read(1, from: .battery).description == "55 00 09 02 01 01 F2 00 AA")
  }

  @Test("frame: a float is little-endian and comes back; other lengths are no float")
  func float() {
    var frame = XGOFrame(mode: 0x12, address: .measuredPitch)
    frame.append(Float(-12.5))
    #expect(frame.description == "55 00 0C 12 63 00 00 48 C1 75 00 AA")
    #expect(frame.float == -12.5)
    frame.append(UInt8(0))
    #expect(frame.float == nil)
  }

  @Test("reader: frames one after the other, byte by byte, come out in order")
  func stream() {
    var random = SplitMix64(seed: 1)
    let frames = (0..<500).map { _ in randomFrame(&random) }
    #expect(frames.flatMap(bytes).framesIn() == frames)
  }

  @Test("reader: noise without a start between frames costs no frame")
  func noise() {
    let seed: UInt64 = 20_260_104
    var random = SplitMix64(seed: seed)
    var stream: [UInt8] = []
    var frames: [XGOFrame] = []
    var noise = 0
    for _ in 0..<2_000 {
      for _ in 0..<random.below(60) {
        let byte = UInt8(truncatingIfNeeded: random.next())
        guard byte != 0x55 else { continue }
        stream.append(byte)
        noise += 1
      }
      frames.append(randomFrame(&random))
      stream += bytes(frames[frames.count - 1])
    }
    var reader = XGOFrameReader()
    #expect(stream.framesIn(&reader) == frames, "seed \(seed)")
    #expect(reader.skipped == UInt64(noise), "seed \(seed)")
  }

  @Test("reader: a wrong sum, tail or length is refused and the frame after it is found")
  func refused() {
    let good = XGOFrame.write(127, to: .forwardSpeed)
    for index in 0..<good.count {
      for value in 0...UInt8.max where value != good[index] {
        var broken = bytes(good)
        broken[index] = value
        // A false start may cover what follows: the frame is out when 40 more bytes have come at the latest.
        let found = (broken + bytes(good) + [UInt8](repeating: 0, count: 40)).framesIn()
        #expect(found == [good], "byte \(index) set to \(value)")
      }
    }
  }

  @Test("reader: a false start that covers a frame gives it up after at most 40 bytes")
  func falseStart() {
    let good = XGOFrame.write(5, to: .yawRate)
    #expect(([0x55, 0x00, 40] + bytes(good) + [UInt8](repeating: 0x55, count: 28)).framesIn() == [good])
  }

  @Test("reader: without next it keeps the newest 40 bytes; reset forgets them")
  func bounded() {
    var reader = XGOFrameReader()
    for _ in 0..<1_000 { reader.append(0x55) }
    #expect(reader.skipped == 960)
    let good = XGOFrame.write(5, to: .yawRate)
    for byte in bytes(good) { reader.append(byte) }
    #expect(reader.next() == good)
    reader.append(0x55)
    reader.reset()
    #expect(bytes(good).framesIn(&reader) == [good])
  }

  @Test("reader: 20,000 mutated streams never crash and give only frames that encode to bytes of the stream")
  func mutations() {
    let seed: UInt64 = 20_260_105
    var random = SplitMix64(seed: seed)
    var found = 0
    for number in 0..<20_000 {
      let original = (0...random.below(3)).flatMap { _ in bytes(randomFrame(&random)) }
      let stream = mutated(original, &random)
      for frame in stream.framesIn() {
        found += 1
        let isInStream = stream.contains(bytes(frame))
        #expect(isInStream, "seed \(seed), stream \(number): \(frame)")
        if !isInStream { return }
      }
    }
    #expect(found > 5_000)
  }

  @Test("scale: 0 is 127, the ends are 0 and 255, beyond them is clamped")
  func scale() {
    for scale in [RiderScale.forwardSpeed, .yawRate, .roll] {
      #expect(scale.byte(0) == 127)
      #expect(scale.value(127) == 0)
    }
    #expect(RiderScale.height.byte(90) == 127)
    for scale in [RiderScale.forwardSpeed, .yawRate, .height, .roll] {
      #expect(scale.byte(scale.lowest) == 0)
      #expect(scale.byte(scale.highest) == 255)
      #expect(scale.byte(-.infinity) == 0)
      #expect(scale.byte(.infinity) == 255)
    }
    #expect(RiderScale.forwardSpeed.byte(0.75) == 191)
    #expect(RiderScale.yawRate.byte(-180) == 63)
  }

  @Test("scale: every byte comes back from its value, or its lower neighbour by rounding down")
  func scaleRoundTrip() {
    for scale in [RiderScale.forwardSpeed, .yawRate, .height, .roll] {
      for byte in UInt8.min...UInt8.max {
        let back = scale.byte(scale.value(byte))
        #expect(back == byte || back &+ 1 == byte)
      }
    }
  }

  private func randomFrame(_ random: inout SplitMix64) -> XGOFrame {
    var frame = XGOFrame(
      mode: random.pick([1, 2, 0x12]), address: XGOAddress(UInt8(truncatingIfNeeded: random.next())))
    for _ in 0..<random.below(XGOFrame.maximumDataCount + 1) {
      // Starts inside data are the hard case.
      frame.append(random.chance(10) ? 0x55 : random.chance(10) ? 0 : UInt8(truncatingIfNeeded: random.next()))
    }
    return frame
  }

  private func bytes(_ frame: XGOFrame) -> [UInt8] {
    encoded(capacity: frame.count) { frame.encode(into: $0) }
  }
}

extension [UInt8] {
  fileprivate func framesIn() -> [XGOFrame] {
    var reader = XGOFrameReader()
    return framesIn(&reader)
  }

  fileprivate func framesIn(_ reader: inout XGOFrameReader) -> [XGOFrame] {
    var frames: [XGOFrame] = []
    for byte in self {
      reader.append(byte)
      while let frame = reader.next() { frames.append(frame) }
    }
    return frames
  }

  fileprivate func contains(_ part: [UInt8]) -> Bool {
    guard part.count <= count else { return false }
    return (0...count - part.count).contains { Array(self[$0..<$0 + part.count]) == part }
  }
}
