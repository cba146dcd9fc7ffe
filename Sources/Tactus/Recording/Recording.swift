import CTactus

/// A part of a loop's memory in a recording.
struct LoopPart: Sendable {
  var size: Int
  var addresses: Addresses
}

/// A segment of a lane's tape. Its bytes are entries, the first of which are a frame.
struct RecordedSegment: Sendable, Hashable {
  var number: Int64
  var begins: Int64
  var bytes: [UInt8]
}

/// The recording of one lane.
struct LaneRecording: Sendable {
  /// The instant of the lane's newest release, or of its newest frame if no release follows the frame.
  var ends: Int64? {
    guard let segment = segments.last else { return nil }
    var newest = segment.begins
    segment.bytes.withUnsafeBytes { bytes in
      var place = 0
      while bytes.count - place >= MemoryLayout<tactus_tape_entry>.size {
        let entry = bytes.loadUnaligned(fromByteOffset: place, as: tactus_tape_entry.self)
        let content = place + MemoryLayout<tactus_tape_entry>.size
        let count = Int(entry.count)
        guard count <= bytes.count - content else { return }
        if entry.kind == TapeKind.released.number, count == MemoryLayout<LaneTape.Release>.size {
          newest = bytes.loadUnaligned(fromByteOffset: content, as: LaneTape.Release.self).start
        }
        place = content + (count + 7) / 8 * 8
      }
    }
    return newest
  }

  struct Loop: Sendable {
    var name: String
    var isRecorded: Bool
    var parts: [LoopPart]
  }

  var name: String
  var loops: [Loop]
  /// The segments, the oldest first.
  var segments: [RecordedSegment]
  /// The number of releases that were not recorded because they wrote more than a segment holds.
  var gaps: Int64
}

/// The inputs, decisions and outputs of a runtime's lanes, release by release, from some instant on.
///
///     let recording = runtime.recording(last: .seconds(60))!
///     write(recording.bytes)                                          // to a file, say
///     …
///     let replayed = try runtime.replay(Recording(bytes: read()))     // in a program with the same loops
///     print(replayed.differences.first ?? "the same, in \(replayed.ticks) ticks")
///
/// A recording contains everything that went through mailboxes and ports, byte for byte, so it is as confidential as that.
public struct Recording: Sendable {
  /// Facts that the recording's maker has added, such as the version of the program.
  public var facts: [String: String]
  var lanes: [LaneRecording]

  /// The names of the lanes.
  public var laneNames: [String] { lanes.map(\.name) }
  /// Returns the names of a lane's loops, the most urgent first, or an empty list if there is no such lane.
  public func loopNames(of lane: String) -> [String] {
    lanes.first { $0.name == lane }?.loops.map(\.name) ?? []
  }
  /// The instant at which the recordings of all lanes have begun, or zero for a recording without a lane.
  public var begins: TickInstant {
    TickInstant(nanoseconds: lanes.compactMap { $0.segments.first?.begins }.max() ?? 0)
  }
  /// The instant of the newest release in any lane, or zero for a recording without one.
  public var ends: TickInstant { TickInstant(nanoseconds: lanes.compactMap(\.ends).max() ?? 0) }
  /// The number of releases of all lanes that are missing because a release wrote more than the lane's memory holds.
  public var gaps: Int64 { lanes.reduce(0) { $0 + $1.gaps } }

  init(facts: [String: String], lanes: [LaneRecording]) {
    self.facts = facts
    self.lanes = lanes
  }
}

/// The error for bytes that are not a recording or are a damaged recording.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset of the byte at which the recording cannot be read.
  public var offset: Int
  /// The expected and the actual content at the offset.
  public var reason: String

  /// One sentence for people.
  public var description: String { "no recording that can be read: byte \(offset): \(reason)" }
}

// The file: 16 bytes that say what it is; then sections, each with its kind (4 bytes), its length (8), a checksum of its bytes (8), and its bytes. Numbers
// are little-endian. A text or a piece of memory has its length before it.
extension Recording {
  private static let magic = Array("TACTUS-RECORD-1\n".utf8)

  private enum Section {
    static let facts: UInt32 = 1
    static let lane: UInt32 = 2
    static let segment: UInt32 = 3
  }

  /// The recording as the bytes of a file.
  public var bytes: [UInt8] {
    var file = ByteWriter(bytes: Self.magic)
    file.section(Section.facts) { section in
      section.number(facts.count)
      for (key, value) in facts.sorted(by: { $0.key < $1.key }) {
        section.text(key)
        section.text(value)
      }
    }
    for lane in lanes {
      file.section(Section.lane) { section in
        section.text(lane.name)
        section.number(Int(lane.gaps))
        section.number(lane.loops.count)
        for loop in lane.loops {
          section.text(loop.name)
          section.number(loop.isRecorded ? 1 : 0)
          section.number(loop.parts.count)
          for part in loop.parts {
            section.number(part.size)
            section.number(part.addresses.words.count)
            for word in part.addresses.words {
              section.number(word.place)
              section.fixed(word.value, 8)
            }
          }
        }
      }
      for segment in lane.segments {
        file.section(Section.segment) { section in
          section.number(Int(segment.number))
          section.number(Int(segment.begins))
          section.bytes.append(contentsOf: segment.bytes)
        }
      }
    }
    return file.bytes
  }

  /// Parses the bytes of a file. Everything is checked: no byte of a recording that can be read has changed.
  public init(bytes: [UInt8]) throws(RecordingError) {
    var file = ByteReader(bytes: bytes[...])
    guard bytes.starts(with: Self.magic) else {
      throw RecordingError(offset: 0, reason: "a recording begins with \"TACTUS-RECORD-1\"")
    }
    _ = try file.take(Self.magic.count)
    self.init(facts: [:], lanes: [])
    while !file.isAtEnd {
      let start = file.offset
      let kind = UInt32(truncatingIfNeeded: try file.fixed(4))
      let length = try file.fixed(8)
      let checksum = try file.fixed(8)
      guard length <= UInt64(file.left) else {
        throw RecordingError(
          offset: start, reason: "a section of \(length) bytes, of which \(file.left) are there: the file is cut off")
      }
      let content = try file.take(Int(length))
      guard checksum == Recording.checksum(content) else {
        throw RecordingError(offset: content.startIndex, reason: "a section whose checksum is another: it was changed")
      }
      var section = ByteReader(bytes: content)
      switch kind {
      case Section.facts: try readFacts(&section)
      case Section.lane: try readLane(&section)
      case Section.segment:
        guard !lanes.isEmpty else { throw RecordingError(offset: start, reason: "a segment before any lane") }
        let number = try section.number()
        let begins = try section.number()
        lanes[lanes.count - 1].segments.append(
          RecordedSegment(number: Int64(number), begins: Int64(begins), bytes: Array(try section.take(section.left))))
      default: throw RecordingError(offset: start, reason: "a section of the unknown kind \(kind)")
      }
      guard section.isAtEnd else { throw RecordingError(offset: section.offset, reason: "the section goes on") }
    }
  }

  private mutating func readFacts(_ section: inout ByteReader) throws(RecordingError) {
    for _ in 0..<(try section.count(of: 16)) {
      let key = try section.text()
      facts[key] = try section.text()
    }
  }

  private mutating func readLane(_ section: inout ByteReader) throws(RecordingError) {
    var lane = LaneRecording(name: try section.text(), loops: [], segments: [], gaps: Int64(try section.number()))
    for _ in 0..<(try section.count(of: 24)) {
      var loop = LaneRecording.Loop(name: try section.text(), isRecorded: try section.number() != 0, parts: [])
      for _ in 0..<(try section.count(of: 16)) {
        var part = LoopPart(size: try section.number(), addresses: Addresses(words: []))
        for _ in 0..<(try section.count(of: 16)) {
          part.addresses.words.append(.init(place: try section.number(), value: try section.fixed(8)))
        }
        loop.parts.append(part)
      }
      lane.loops.append(loop)
    }
    lanes.append(lane)
  }

  static func checksum(_ bytes: some Collection<UInt8>) -> UInt64 {
    bytes.withContiguousStorageIfAvailable { checksum($0) } ?? checksum(Array(bytes))
  }

  /// Returns the FNV-1a checksum over words of 8 bytes, then over the remaining bytes.
  private static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    let raw = UnsafeRawBufferPointer(bytes)
    var place = 0
    while place + 8 <= raw.count {
      hash = (hash ^ raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x100_0000_01B3
      hash ^= hash >> 32
      place += 8
    }
    while place < raw.count {
      hash = (hash ^ UInt64(raw[place])) &* 0x100_0000_01B3
      place += 1
    }
    return hash
  }
}

private struct ByteWriter {
  var bytes: [UInt8]

  mutating func number(_ value: Int) { fixed(UInt64(bitPattern: Int64(value)), 8) }

  mutating func fixed(_ value: UInt64, _ count: Int) {
    for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))) }
  }

  mutating func text(_ text: String) {
    number(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func section(_ kind: UInt32, _ write: (inout ByteWriter) -> Void) {
    var section = ByteWriter(bytes: [])
    write(&section)
    fixed(UInt64(kind), 4)
    number(section.bytes.count)
    fixed(Recording.checksum(section.bytes), 8)
    bytes.append(contentsOf: section.bytes)
  }
}

private struct ByteReader {
  var bytes: ArraySlice<UInt8>

  var offset: Int { bytes.startIndex }
  var left: Int { bytes.count }
  var isAtEnd: Bool { bytes.isEmpty }

  mutating func take(_ count: Int) throws(RecordingError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= left else {
      throw RecordingError(offset: offset, reason: "\(count) bytes, of which \(left) are there")
    }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }

  mutating func fixed(_ count: Int) throws(RecordingError) -> UInt64 {
    try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func number() throws(RecordingError) -> Int { Int(Int64(bitPattern: try fixed(8))) }

  /// Reads the number of elements that follow, each of at least `size` bytes.
  mutating func count(of size: Int) throws(RecordingError) -> Int {
    let start = offset
    let count = try number()
    guard count >= 0, count <= left / size else {
      throw RecordingError(offset: start, reason: "\(count) elements in \(left) bytes")
    }
    return count
  }

  mutating func text() throws(RecordingError) -> String { String(decoding: try take(number()), as: UTF8.self) }
}
