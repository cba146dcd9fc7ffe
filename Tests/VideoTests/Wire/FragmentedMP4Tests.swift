import TestSupport
import Testing
import Video

@Suite("fragmented MP4", .ownThread)
struct FragmentedMP4Tests {
  private static let configuration: [UInt8] = [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 1, 0x67, 1, 0, 1, 0x68]

  /// Boxes in order with their contents.
  private func boxes(_ bytes: ArraySlice<UInt8>) throws -> [(name: String, content: ArraySlice<UInt8>)] {
    var rest = bytes
    var found: [(String, ArraySlice<UInt8>)] = []
    while !rest.isEmpty {
      try #require(rest.count >= 8)
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      try #require(length >= 8 && length <= rest.count)
      found.append((String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), rest.prefix(length).dropFirst(8)))
      rest = rest.dropFirst(length)
    }
    return found
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  @Test("initialisation: a movie of one track with the encoder's configuration and size, samples in fragments")
  func initialisation() throws {
    let bytes = FragmentedMP4.initialisation(configuration: Self.configuration, width: 640, height: 480)
    let top = try boxes(bytes[...])
    #expect(top.map(\.name) == ["ftyp", "moov"])
    let movie = try boxes(top[1].content)
    #expect(movie.map(\.name) == ["mvhd", "trak", "mvex"])
    #expect(movie[0].content.count == 100)
    let track = try boxes(movie[1].content)
    #expect(track[0].content.count == 84)
    #expect(number(track[0].content.suffix(8).prefix(4)) == 640 << 16)
    #expect(number(track[0].content.suffix(4)) == 480 << 16)
    let media = try boxes(track[1].content)
    #expect(media.map(\.name) == ["mdhd", "hdlr", "minf"])
    #expect(media[0].content.count == 24)
    let table = try boxes(try #require(try boxes(media[2].content).first { $0.name == "stbl" }).content)
    #expect(table.map(\.name) == ["stsd", "stts", "stsc", "stco", "stsz"])
    let entry = try boxes(table[0].content.dropFirst(8))
    #expect(entry.map(\.name) == ["avc1"])
    let inner = try boxes(entry[0].content.dropFirst(78))
    #expect(inner.map(\.name) == ["avcC"] && Array(inner[0].content) == Self.configuration)
    #expect(FragmentedMP4.codec(configuration: Self.configuration) == "avc1.42C01F")
    #expect(FragmentedMP4.codec(configuration: []) == nil)
    #expect(FragmentedMP4.codec(configuration: [1, 0x4D, 0, 9, 0xFF, 0xE1, 0]) == "avc1.4D0009")
    #expect(FragmentedMP4.codec(configuration: [1, 0x4D, 0, 9, 0xFF, 0xE1]) == nil)
    #expect(FragmentedMP4.codec(configuration: [2, 0x4D, 0, 9, 0xFF, 0xE1, 0]) == nil)
  }

  @Test(
    "frames further apart than planned: each lasts as long as the one before did, a second at most, so that no gap is left"
  )
  func slower() throws {
    var muxer = FragmentedMP4()
    let times: [UInt64] = [0, 33, 100, 200, 233, 9_000]
    let durations = try times.map { time in
      let bytes = muxer.fragment(sample: [0], isKey: true, at: time * 1_000_000, duration: 33_333_333)
      return number(try box(["moof", "traf", "trun"], in: bytes)[12..<16])
    }
    #expect(durations == [2_999, 2_999, 6_030, 9_000, 2_999, 90_000])
  }

  /// The box at the end of these names.
  private func box(_ names: [String], in bytes: [UInt8], skipping: [String: Int] = [:]) throws -> [UInt8] {
    var content = bytes[...]
    for name in names {
      content = try #require(try boxes(content).first { $0.name == name }, "\(name)").content
      content = content.dropFirst(skipping[name] ?? 0)
    }
    return Array(content)
  }

  @Test("fields that players go by: brands, the track's number, units of time, what it is, where its samples are")
  func fields() throws {
    let bytes = FragmentedMP4.initialisation(configuration: Self.configuration, width: 640, height: 480)
    func field(_ names: String..., at offset: Int, _ count: Int = 4) throws -> UInt64 {
      number(try box(names, in: bytes, skipping: ["stsd": 8, "dref": 8])[offset..<offset + count])
    }
    #expect(String(decoding: try box(["ftyp"], in: bytes), as: UTF8.self) == "iso5\0\0\u{2}\0iso5iso6mp41")
    // Units of a second; rate and volume 1; no rotation; the number of the next track.
    #expect(try field("moov", "mvhd", at: 12) == 90_000)
    #expect(try field("moov", "mvhd", at: 20) == 0x0001_0000)
    #expect(try field("moov", "mvhd", at: 24, 2) == 0x0100)
    #expect(
      try (0..<9).map { try field("moov", "mvhd", at: 36 + $0 * 4) } == [
        0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000,
      ])
    #expect(try field("moov", "mvhd", at: 96) == 2)
    // Enabled and in the movie, number 1.
    #expect(try field("moov", "trak", "tkhd", at: 0) == 3)
    #expect(try field("moov", "trak", "tkhd", at: 12) == 1)
    #expect(try field("moov", "trak", "mdia", "mdhd", at: 12) == 90_000)
    #expect(try field("moov", "trak", "mdia", "hdlr", at: 8) == number(Array("vide".utf8)[...]))
    // In this file.
    #expect(try field("moov", "trak", "mdia", "minf", "dinf", "dref", "url ", at: 0) == 1)
    #expect(try field("moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1", at: 24, 2) == 640)
    #expect(try field("moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1", at: 26, 2) == 480)
    // Fragments of track 1, with the first sample description.
    #expect(try field("moov", "mvex", "trex", at: 4) == 1)
    #expect(try field("moov", "mvex", "trex", at: 8) == 1)
  }

  @Test("a fragment's flags: offsets from its own start, 64 bits of time, a key frame depends on no other")
  func flags() throws {
    var muxer = FragmentedMP4()
    for isKey in [true, false] {
      let bytes = muxer.fragment(sample: [1, 2], isKey: isKey, at: 5_000_050_000, duration: 20_000_000)
      func field(_ name: String, at offset: Int, _ count: Int = 4) throws -> UInt64 {
        number(try box(["moof", "traf", name], in: bytes)[offset..<offset + count])
      }
      #expect(try field("tfhd", at: 0) == 0x02_0000)
      #expect(try field("tfhd", at: 4) == 1)
      #expect(try field("tfdt", at: 0) == 0x0100_0000)
      #expect(try field("tfdt", at: 4, 8) == (isKey ? 450_004 : 450_005))
      #expect(try field("trun", at: 0) == 0x0701)
      #expect(try field("trun", at: 4) == 1)
      #expect(try field("trun", at: 20) == (isKey ? 0x0200_0000 : 0x0101_0000))
    }
  }

  @Test("fragments: numbered, timed in 90 kHz, each its own sample right behind its head")
  func fragments() throws {
    var muxer = FragmentedMP4()
    let hour: UInt64 = 400 * 24 * 3_600_000_000_000
    for (index, isKey) in [true, false].enumerated() {
      let sample = Array(repeating: UInt8(index + 1), count: 100 + index)
      let bytes = muxer.fragment(
        sample: sample, isKey: isKey, at: hour + UInt64(index) * 33_333_333, duration: 33_333_333)
      let top = try boxes(bytes[...])
      #expect(top.map(\.name) == ["moof", "mdat"] && Array(top[1].content) == sample)
      let inner = try boxes(top[0].content)
      #expect(number(inner[0].content.suffix(4)) == UInt64(index + 1))
      let parts = try boxes(inner[1].content)
      #expect(parts.map(\.name) == ["tfhd", "tfdt", "trun"])
      #expect(number(parts[1].content.suffix(8)) == 400 * 24 * 3600 * 90_000 + UInt64(index) * 2999)
      let run = parts[2].content.dropFirst(8)
      #expect(number(run.prefix(4)) == UInt64(bytes.count - sample.count))
      #expect(number(run.dropFirst(4).prefix(4)) == 2999)
      #expect(number(run.dropFirst(8).prefix(4)) == UInt64(sample.count))
      #expect((number(run.dropFirst(12).prefix(4)) & 0x0001_0000 == 0) == isKey)
    }
  }

  @Test("a frame that is not later than the last: put right behind it")
  func backwards() throws {
    var muxer = FragmentedMP4()
    func time(_ nanoseconds: UInt64) throws -> UInt64 {
      let bytes = muxer.fragment(sample: [0], isKey: true, at: nanoseconds, duration: 1)
      return number(try boxes(try boxes(try boxes(bytes[...])[0].content)[1].content)[1].content.suffix(8))
    }
    #expect(try time(1_000_000_000) == 90_000)
    #expect(try time(1_000_000_000) == 90_001)
    #expect(try time(5) == 90_002)
    #expect(try time(2_000_000_000) == 180_000)
    // A hundred years.
    #expect(try time(3_000_000_000_000_000_000) == 270_000_000_000_000)
  }
}

@Suite("drawn clock", .ownThread)
struct DrawnClockTests {
  @Test("drawn and read again; another picture is no clock", arguments: [0, 1, 0xDEAD_BEEF, UInt32.max])
  func roundTrip(milliseconds: UInt32) {
    let (width, height, stride) = (640, 480, 640)
    var plane = [UInt8](repeating: 90, count: stride * height)
    #expect(DrawnClock.read { plane[$1 * stride + $0] } == nil)
    plane.withUnsafeMutableBytes {
      DrawnClock.draw(milliseconds, into: $0, stride: stride, width: width, height: height)
    }
    #expect(DrawnClock.read { plane[$1 * stride + $0] } == milliseconds)
  }

  @Test(
    "a picture that is too narrow or too low, or whose bytes are not all there: left as it is",
    arguments: [(511, 32, 511 * 32), (512, 31, 512 * 31), (512, 31, 512 * 32), (512, 32, 512 * 32 - 1)])
  func tooSmall(width: Int, height: Int, count: Int) {
    // More behind it: nothing is written there, either.
    var bytes = [UInt8](repeating: 90, count: 640 * 64)
    bytes.withUnsafeMutableBytes {
      DrawnClock.draw(5, into: .init(rebasing: $0[..<count]), stride: width, width: width, height: height)
    }
    #expect(bytes.allSatisfy { $0 == 90 })
  }

  @Test("a number without its complement: no clock")
  func unchecked() { #expect(DrawnClock.read { column, _ in column < 64 ? 235 : 16 } == nil) }
}
