@_spi(FromOutside) import Conversions

/// A muxer for one H.264 track as fragmented MP4 (ISO/IEC 14496-12, 14496-15): an initialisation segment, then one fragment for each
/// frame, so that a frame is never delayed by later ones. The format suits Media Source Extensions, players and files.
public struct FragmentedMP4: Sendable {
  /// The number of time units in a second.
  public static let timescale: UInt64 = 90_000

  private var sequence: UInt32 = 0
  /// The time of the last fragment, or `nil` before the first. A decoder needs times that increase.
  private var last: UInt64?

  public init() {}

  /// Returns the initialisation segment.
  ///
  /// - Parameters:
  ///   - configuration: the `AVCDecoderConfigurationRecord`, as in GStreamer's `codec_data`.
  ///   - width: the width of the encoded picture in pixels.
  public static func initialisation(configuration: [UInt8], width: UInt16, height: UInt16) -> [UInt8] {
    var file = BoxWriter()
    file.box("ftyp") { box in
      box.text("iso5")
      box.add(UInt32(512))
      for brand in ["iso5", "iso6", "mp41"] { box.text(brand) }
    }
    file.box("moov") { box in
      box.full("mvhd") { box in
        box.zeros(8)
        box.add(UInt32(clamping: timescale))
        box.zeros(4)
        box.add(UInt32(0x0001_0000))
        box.add(UInt16(0x0100))
        box.zeros(10)
        box.matrix()
        box.zeros(24)
        box.add(UInt32(2))
      }
      box.box("trak") { box in track(configuration, width, height, into: &box) }
      box.box("mvex") { box in
        box.full("trex") { box in
          box.add(UInt32(1))
          box.add(UInt32(1))
          box.zeros(12)
        }
      }
    }
    return file.bytes
  }

  /// Returns the name of the codec with profile, constraints and level, such as `avc1.42C01F`, or `nil` if `configuration` is not valid.
  public static func codec(configuration: [UInt8]) -> String? {
    guard configuration.count >= 7, configuration[0] == 1 else { return nil }
    let digits = configuration[1...3].map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return "avc1." + digits.joined()
  }

  /// Returns the fragment of one frame.
  ///
  /// - Parameters:
  ///   - sample: the NAL units, each preceded by its length in four bytes.
  ///   - at: the time of the frame in nanoseconds of any clock, the same one for all frames. A frame that is not later than the last is
  ///     placed directly behind it.
  ///   - duration: the planned time to the next frame, in nanoseconds. The frame is shown for at least as long as the
  ///     time since the previous one, up to a second, because a player stops at a gap.
  public mutating func fragment(sample: [UInt8], isKey: Bool, at nanoseconds: UInt64, duration: UInt64) -> [UInt8] {
    sequence &+= 1
    // The clock is 90 kHz: nanoseconds × 9 ÷ 100,000, computed without exceeding 64 bits.
    var time = nanoseconds / 100_000 * 9 + nanoseconds % 100_000 * 9 / 100_000
    if let last, time <= last { time = last + 1 }
    let gap = last.map { min(time - $0, Self.timescale) } ?? 0
    let duration = max(min(duration, 1_000_000_000_000) * 9 / 100_000, gap)
    last = time
    var fragment = BoxWriter()
    fragment.box("moof") { box in
      box.full("mfhd") { $0.add(sequence) }
      box.box("traf") { box in
        // Offsets count from the beginning of this fragment.
        box.full("tfhd", flags: 0x02_0000) { $0.add(UInt32(1)) }
        box.full("tfdt", version: 1) { $0.add(time) }
        // Data offset; each sample's duration, size and flags.
        box.full("trun", flags: 0x0701) { box in
          box.add(UInt32(1))
          box.add(UInt32(clamping: Self.headBytes))
          box.add(UInt32(clamping: duration))
          box.add(UInt32(clamping: sample.count))
          // The sample flags: a key frame depends on no other frame; any other frame depends on others and is no key frame.
          box.add(UInt32(clamping: isKey ? 0x0200_0000 : 0x0101_0000))
        }
      }
    }
    precondition(fragment.bytes.count + 8 == Self.headBytes, "the samples begin where the fragment says")
    fragment.box("mdat") { $0.add(sample) }
    return fragment.bytes
  }

  /// The number of bytes of a fragment before its sample.
  private static let headBytes = 108

  private static func track(
    _ configuration: [UInt8], _ width: UInt16, _ height: UInt16, into track: inout BoxWriter
  ) {
    // The flags say that the track is enabled and part of the movie.
    track.full("tkhd", flags: 3) { box in
      box.zeros(8)
      box.add(UInt32(1))
      box.zeros(24)
      box.matrix()
      box.add(UInt32(width) << 16)
      box.add(UInt32(height) << 16)
    }
    track.box("mdia") { box in
      box.full("mdhd") { box in
        box.zeros(8)
        box.add(UInt32(clamping: timescale))
        box.zeros(4)
        // The language is "und", three letters of five bits each.
        box.add(UInt16(0x55C4))
        box.zeros(2)
      }
      box.full("hdlr") { box in
        box.zeros(4)
        box.text("vide")
        box.zeros(12)
        box.text("video\0")
      }
      box.box("minf") { box in
        box.full("vmhd", flags: 1) { $0.zeros(8) }
        box.box("dinf") { box in
          box.full("dref") { box in
            box.add(UInt32(1))
            // The flag says that the media data is in this file.
            box.full("url ", flags: 1) { _ in }
          }
        }
        box.box("stbl") { box in
          box.full("stsd") { box in
            box.add(UInt32(1))
            box.box("avc1") { sampleEntry(configuration, width, height, into: &$0) }
          }
          // These tables are empty, because the samples are in fragments.
          for name in ["stts", "stsc", "stco"] { box.full(name) { $0.zeros(4) } }
          box.full("stsz") { $0.zeros(8) }
        }
      }
    }
  }

  private static func sampleEntry(
    _ configuration: [UInt8], _ width: UInt16, _ height: UInt16, into entry: inout BoxWriter
  ) {
    entry.zeros(6)
    entry.add(UInt16(1))
    entry.zeros(16)
    entry.add(width)
    entry.add(height)
    // The resolution is 72 dots an inch.
    entry.add(UInt32(0x0048_0000))
    entry.add(UInt32(0x0048_0000))
    entry.zeros(4)
    entry.add(UInt16(1))
    entry.zeros(32)
    entry.add(UInt16(24))
    entry.add(UInt16(0xFFFF))
    entry.box("avcC") { $0.add(configuration) }
  }
}

/// A writer of nested boxes: four bytes of length, four of a name, contents. All numbers are big-endian.
private struct BoxWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ value: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  mutating func add(_ more: [UInt8]) { bytes += more }
  mutating func zeros(_ count: Int) { bytes += repeatElement(0, count: count) }
  mutating func text(_ text: String) { bytes += text.utf8 }

  /// Adds the matrix for no rotation: 16.16 and, in the last column, 2.30 fixed point.
  mutating func matrix() {
    for value: UInt32 in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] { add(value) }
  }

  mutating func box(_ name: String, _ content: (inout BoxWriter) -> Void) {
    var inner = BoxWriter()
    content(&inner)
    add(UInt32(clamping: inner.bytes.count + 8))
    text(name)
    bytes += inner.bytes
  }

  mutating func full(
    _ name: String, version: UInt32 = 0, flags: UInt32 = 0, _ content: (inout BoxWriter) -> Void
  ) {
    box(name) { box in
      box.add(version << 24 | flags)
      content(&box)
    }
  }
}
