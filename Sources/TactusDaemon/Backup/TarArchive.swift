@_spi(FromOutside) import Conversions

/// An archive of a few files in the format of tar (POSIX.1-1988, `ustar`), which the machine's own `tar` reads and writes, too.
///
/// It holds regular files with names of at most 100 bytes, and nothing else; anything else in an archive is refused.
enum TarArchive {
  /// A file of an archive.
  struct Entry: Equatable, Sendable {
    var name: String
    var bytes: [UInt8]
  }

  /// The reason why bytes are not taken as an archive.
  struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the entry, or an empty text if the reason concerns the archive as a whole.
    var entry: String
    var message: String

    var description: String { entry.isEmpty ? message : "\(entry): \(message)" }
  }

  /// The length in bytes of a header; files are padded to a multiple of it.
  private static let block = 512
  private static let magic = Array("ustar".utf8)

  /// Returns whether the bytes begin as an archive does. They may be damaged all the same.
  static func isArchive(_ bytes: [UInt8]) -> Bool { bytes.count > 262 && bytes[257..<262].elementsEqual(magic) }

  /// Returns the archive of these files, which may be read and written by their owner alone.
  ///
  /// - Parameters:
  ///   - entries: the files, with names of 1…100 bytes and less than 8 GB each.
  ///   - seconds: the time of the files in seconds since 1970.
  static func encode(_ entries: [Entry], at seconds: Int64) -> [UInt8] {
    var archive: [UInt8] = []
    archive.reserveCapacity(entries.reduce(2 * block) { $0 + 2 * block + $1.bytes.count })
    for entry in entries {
      archive += header(of: entry, at: seconds)
      archive += entry.bytes
      archive += [UInt8](repeating: 0, count: padding(entry.bytes.count))
    }
    return archive + [UInt8](repeating: 0, count: 2 * block)
  }

  private static func header(of entry: Entry, at seconds: Int64) -> [UInt8] {
    let name = Array(entry.name.utf8)
    precondition((1...100).contains(name.count), "a name that the format does not take")
    var header = [UInt8](repeating: 0, count: block)
    func put(_ bytes: [UInt8], at place: Int) { header.replaceSubrange(place..<place + bytes.count, with: bytes) }
    put(name, at: 0)
    put(octal(0o600, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    put(octal(Int64(entry.bytes.count), digits: 11), at: 124)
    put(octal(max(0, seconds), digits: 11), at: 136)
    put([UInt8(ascii: "0")], at: 156)
    put(magic + [0] + Array("00".utf8), at: 257)
    put(octal(sum(of: header[...]), digits: 6) + [0, UInt8(ascii: " ")], at: 148)
    return header
  }

  /// Returns the files of an archive, in its order.
  ///
  /// - Throws: `Failure` for bytes that are no archive, or one that is damaged or holds anything but files.
  static func decode(_ bytes: [UInt8]) throws(Failure) -> [Entry] {
    var entries: [Entry] = []
    var place = 0
    while true {
      guard bytes.count - place >= block else {
        throw Failure(entry: "", message: "expected an empty block at the end, got the end at byte \(bytes.count)")
      }
      let header = bytes[place..<place + block]
      if header.allSatisfy({ $0 == 0 }) { break }
      let entry = entries.isEmpty ? "the first entry" : "the entry behind \(entries[entries.count - 1].name)"
      guard header[(place + 257)..<(place + 262)].elementsEqual(magic),
        number(header[(place + 148)..<(place + 156)]) == sum(of: header)
      else { throw Failure(entry: entry, message: "expected a header of tar (ustar), got a damaged one or none") }
      let name = String(decoding: header.prefix(100).prefix { $0 != 0 }, as: UTF8.self)
      let kind = header[place + 156]
      guard !name.isEmpty, kind == UInt8(ascii: "0"), header[place + 345] == 0 else {
        throw Failure(entry: name.isEmpty ? entry : name, message: "expected a file, got something else")
      }
      place += block
      guard let size = number(header[(place - block + 124)..<(place - block + 136)]).flatMap({ Int(exactly: $0) }),
        size <= bytes.count - place
      else { throw Failure(entry: name, message: "expected all of the file, got \(bytes.count - place) bytes at most") }
      entries.append(Entry(name: name, bytes: Array(bytes[place..<place + size])))
      place += min(size + padding(size), bytes.count - place)
    }
    guard bytes[place...].allSatisfy({ $0 == 0 }) else {
      throw Failure(entry: "", message: "expected nothing behind the end, got more from byte \(place) on")
    }
    return entries
  }

  private static func padding(_ count: Int) -> Int { (block - count % block) % block }

  /// Returns the sum of a header's bytes, its own field counted as spaces.
  private static func sum(of header: ArraySlice<UInt8>) -> Int64 {
    let field = (header.startIndex + 148)..<(header.startIndex + 156)
    return header.indices.reduce(0) { $0 + Int64(field.contains($1) ? UInt8(ascii: " ") : header[$1]) }
  }

  private static func octal(_ number: Int64, digits: Int) -> [UInt8] {
    let text = Array(String(number, radix: 8).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - text.count)) + text
  }

  /// Returns the number in a field: at most 12 octal digits, ended by a space, a NUL or the field. `nil` if it has none or other characters.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }) else {
      return nil
    }
    return digits.reduce(0) { $0 << 3 | Int64($1 & 7) }
  }
}
