/// A name of the domain name system: its labels, which may hold any bytes. Names are compared without regard to the case of ASCII letters.
struct DNSName: Hashable, Sendable {
  /// The number of bytes of the longest name, with the length of each label and the root's.
  static let longestBytes = 255

  var labels: [[UInt8]]

  init(labels: [[UInt8]]) { self.labels = labels }

  /// Creates a name of labels in text, such as `["_tactus", "_tcp", "local"]`.
  init(_ labels: [String]) { self.labels = labels.map { Array($0.utf8) } }

  private var folded: [[UInt8]] {
    labels.map { label in label.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
  }

  static func == (one: DNSName, other: DNSName) -> Bool { one.folded == other.folded }

  func hash(into hasher: inout Hasher) { hasher.combine(folded) }

  /// The bytes of the name in a message, without compression.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for label in labels {
      bytes.append(UInt8(truncatingIfNeeded: label.count))
      bytes += label
    }
    bytes.append(0)
    return bytes
  }
}

/// An answer of multicast DNS with the records that tell of services: PTR, SRV, TXT, A and AAAA.
///
/// Source: RFC 1035 section 4, RFC 2782, RFC 3596, RFC 6762 and 6763. Any host of the network may send anything, so what is read has limits, and a
/// message with one flaw is refused as a whole.
struct DNSMessage: Equatable, Sendable {
  /// The number of bytes of the longest message (RFC 6762, section 17).
  static let longestBytes = 9_000
  /// The greatest number of questions and records.
  static let mostRecords = 512
  /// The greatest number of pointers that one name leads through.
  static let mostPointers = 32

  /// The reason why bytes are not accepted as an answer.
  enum Flaw: Error, Equatable, Sendable {
    /// The message has more bytes than `longestBytes`.
    case tooLong(Int)
    /// The message ends within a record, or a record's data within a value.
    case truncated
    /// The flags are not those of an answer to a query without an error.
    case notAnAnswer(flags: UInt16)
    /// The header announces more questions and records than `mostRecords`.
    case tooManyRecords(Int)
    /// The first byte of a label is neither a length nor a pointer.
    case badLabel(UInt8)
    /// A pointer does not lead to an earlier place in the message, or leads into the header.
    case badPointer(to: Int)
    /// A name leads through more pointers than `mostPointers`.
    case tooManyPointers
    /// A name has more bytes than `DNSName.longestBytes`.
    case nameTooLong
    /// The length of a record's data does not fit its type.
    case wrongLength(type: UInt16)
  }

  /// The type of a record and of what a question asks for.
  enum Kind {
    static let address4: UInt16 = 1
    static let pointer: UInt16 = 12
    static let text: UInt16 = 16
    static let address6: UInt16 = 28
    static let service: UInt16 = 33
  }

  /// One question of a query: a name, and the type of the records that are asked for.
  struct Question: Equatable, Sendable {
    var name: DNSName
    var type: UInt16
  }

  /// The data of a record.
  enum Content: Equatable, Sendable {
    /// The name to which the record's name leads.
    case pointer(DNSName)
    /// The host and the port of a service.
    case service(host: DNSName, port: UInt16)
    /// The strings of a TXT record.
    case text([[UInt8]])
    /// The four or sixteen bytes of an address.
    case address([UInt8])
  }

  /// A record of one of the types of `Kind`. Records of other types and classes are left out.
  struct Record: Equatable, Sendable {
    var name: DNSName
    /// The time for which the record holds in seconds; 0 withdraws it.
    var secondsToLive: UInt32
    var content: Content
  }

  /// The number of the query that the message answers.
  var id: UInt16
  /// The records of all three sections.
  var records: [Record]

  /// Decodes an answer to a query.
  static func decode(_ bytes: [UInt8]) throws(Flaw) -> DNSMessage {
    guard bytes.count <= longestBytes else { throw .tooLong(bytes.count) }
    var reader = Reader(bytes)
    let id = try reader.word()
    let flags = try reader.word()
    // A response, of the operation 0, without an error.
    guard flags & 0xF80F == 0x8000 else { throw .notAnAnswer(flags: flags) }
    let questions = Int(try reader.word())
    var count = 0
    for _ in 0..<3 { count += Int(try reader.word()) }
    guard questions + count <= mostRecords else { throw .tooManyRecords(questions + count) }
    for _ in 0..<questions {
      _ = try reader.name()
      _ = try reader.word()
      _ = try reader.word()
    }
    var records: [Record] = []
    for _ in 0..<count {
      if let record = try reader.record() { records.append(record) }
    }
    return DNSMessage(id: id, records: records)
  }

  /// Returns a query whose answers are to come to the sender alone (RFC 6762, section 5.4).
  static func query(_ id: UInt16, _ questions: [Question]) -> [UInt8] {
    var bytes: [UInt8] = []
    for word in [id, 0, UInt16(truncatingIfNeeded: questions.count), 0, 0, 0] { bytes += bigEndian(word) }
    for question in questions {
      bytes += question.name.bytes
      bytes += bigEndian(question.type)
      // The class is that of the internet, and its highest bit asks for an answer to the sender alone.
      bytes += bigEndian(0x8001)
    }
    return bytes
  }

  private static func bigEndian(_ word: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: word >> 8), UInt8(truncatingIfNeeded: word)]
  }
}

/// Reads the parts of a message one after the other.
private struct Reader {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte() throws(DNSMessage.Flaw) -> UInt8 {
    guard offset < bytes.count else { throw .truncated }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func word() throws(DNSMessage.Flaw) -> UInt16 {
    let high = try byte()
    let low = try byte()
    return UInt16(high) << 8 | UInt16(low)
  }

  mutating func take(_ count: Int) throws(DNSMessage.Flaw) -> [UInt8] {
    guard bytes.count - offset >= count else { throw .truncated }
    defer { offset += count }
    return Array(bytes[offset..<(offset + count)])
  }

  /// Reads a name. Each pointer leads to a place before the one from which the name has been read so far, so that none leads in a circle.
  mutating func name() throws(DNSMessage.Flaw) -> DNSName {
    var labels: [[UInt8]] = []
    var length = 1
    var pointers = 0
    var place = offset
    var start = offset
    // Where reading goes on, once a pointer has led elsewhere.
    var end: Int?
    while true {
      guard place < bytes.count else { throw .truncated }
      let first = bytes[place]
      place += 1
      switch first & 0xC0 {
      case 0xC0:
        guard place < bytes.count else { throw .truncated }
        let target = Int(first & 0x3F) << 8 | Int(bytes[place])
        guard target >= 12, target < start else { throw .badPointer(to: target) }
        pointers += 1
        guard pointers <= DNSMessage.mostPointers else { throw .tooManyPointers }
        if end == nil { end = place + 1 }
        place = target
        start = target
      case 0x00:
        let count = Int(first)
        guard count > 0 else {
          offset = end ?? place
          return DNSName(labels: labels)
        }
        guard bytes.count - place >= count else { throw .truncated }
        length += 1 + count
        guard length <= DNSName.longestBytes else { throw .nameTooLong }
        labels.append(Array(bytes[place..<(place + count)]))
        place += count
      default: throw .badLabel(first)
      }
    }
  }

  /// Reads a record. Returns `nil` for one of another type or class.
  mutating func record() throws(DNSMessage.Flaw) -> DNSMessage.Record? {
    let owner = try name()
    let type = try word()
    // The highest bit says that earlier records are to be forgotten, which are not kept here.
    let isOfInternet = try word() & 0x7FFF == 1
    let high = try word()
    let low = try word()
    let length = Int(try word())
    guard bytes.count - offset >= length else { throw .truncated }
    let end = offset + length
    let found = try isOfInternet ? content(type, until: end) : nil
    offset = end
    return found.map {
      DNSMessage.Record(name: owner, secondsToLive: UInt32(high) << 16 | UInt32(low), content: $0)
    }
  }

  private mutating func content(_ type: UInt16, until end: Int) throws(DNSMessage.Flaw) -> DNSMessage.Content? {
    let content: DNSMessage.Content
    switch type {
    case DNSMessage.Kind.address4: content = .address(try take(4))
    case DNSMessage.Kind.address6: content = .address(try take(16))
    case DNSMessage.Kind.pointer: content = .pointer(try name())
    case DNSMessage.Kind.service:
      // Its priority and weight choose among several hosts, and a service of multicast DNS has one.
      _ = try take(4)
      let port = try word()
      content = .service(host: try name(), port: port)
    case DNSMessage.Kind.text:
      var strings: [[UInt8]] = []
      while offset < end {
        let count = Int(try byte())
        strings.append(try take(count))
      }
      content = .text(strings)
    default: return nil
    }
    guard offset == end else { throw .wrongLength(type: type) }
    return content
  }
}
