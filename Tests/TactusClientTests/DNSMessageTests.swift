import Foundation
import Testing

@testable import TactusClient

@Suite("Answers of multicast DNS")
struct DNSMessageTests {
  /// What Avahi 0.8 answered to a query for `_tactus._tcp.local` on a machine with two daemons. Its number is 0x7CF5.
  static let avahi = bytes(
    """
    7cf584000001000800000000075f746163747573045f746370056c6f63616c00000c8001c00c000c00010000000a000f0c546163747573206f
    6e207069c00cc030001000010000000a002b0d76657273696f6e3d302e312e30086170693d2f61706905746c733d300d73797374656d733d72
    6f626f74c030002100010000000a000e000000001fa50562656e6368c019c088001c00010000000a0010000000000000000000000000000000
    01c088000100010000000a00047f000001c00c000c00010000000a00120f546163747573206f6e207069202332c00cc0c8001000010000000a
    002b0d76657273696f6e3d302e312e30086170693d2f61706905746c733d300d73797374656d733d726f626f74c0c8002100010000000a0008
    000000001fa6c088
    """)

  static let tactus = DNSName(["_tactus", "_tcp", "local"])
  static let pi = DNSName(["Tactus on pi", "_tactus", "_tcp", "local"])
  static let host = DNSName(["pi", "local"])

  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// The header of an answer to the query 1.
  static func head(_ records: UInt16, flags: UInt16 = 0x8400) -> [UInt8] {
    [0, 1, UInt8(flags >> 8), UInt8(flags & 0xFF), 0, 0, UInt8(records >> 8), UInt8(records & 0xFF), 0, 0, 0, 0]
  }

  static func record(_ name: DNSName, _ type: UInt16, _ data: [UInt8], seconds: UInt8 = 10) -> [UInt8] {
    var bytes = name.bytes
    bytes += [UInt8(type >> 8), UInt8(type & 0xFF), 0x80, 1, 0, 0, 0, seconds]
    bytes += [UInt8(data.count >> 8), UInt8(data.count & 0xFF)]
    bytes += data
    return bytes
  }

  /// An answer to the query 1 with one record.
  static func answer(_ record: [UInt8]) -> [UInt8] { head(1) + record }

  private static let tooLongName = DNSName(labels: Array(repeating: [UInt8](repeating: 0x61, count: 63), count: 4))

  @Test("what Avahi answers is read whole: names through pointers, hosts, ports, texts, addresses of both families")
  func real() throws {
    let message = try DNSMessage.decode(Self.avahi)
    #expect(message.id == 0x7CF5 && message.records.count == 8)
    #expect(message.records.allSatisfy { $0.secondsToLive == 10 })
    let bench = DNSName(["bench", "local"])
    let second = DNSName(["Tactus on pi #2", "_tactus", "_tcp", "local"])
    let texts = ["version=0.1.0", "api=/api", "tls=0", "systems=robot"].map { Array($0.utf8) }
    #expect(message.records.map(\.name) == [Self.tactus, Self.pi, Self.pi, bench, bench, Self.tactus, second, second])
    #expect(
      message.records.map(\.content) == [
        .pointer(Self.pi), .text(texts), .service(host: bench, port: 8101),
        .address([UInt8](repeating: 0, count: 15) + [1]), .address([127, 0, 0, 1]), .pointer(second), .text(texts),
        .service(host: bench, port: 8102),
      ])
  }

  @Test("an answer that ends early is refused at every place")
  func truncated() {
    for count in Self.avahi.indices {
      #expect(throws: DNSMessage.Flaw.truncated) { try DNSMessage.decode(Array(Self.avahi.prefix(count))) }
    }
  }

  @Test(
    "what is no answer, and what would lead a reader in a circle or out of the message, is refused with the reason",
    arguments: [
      (head(1, flags: 0), .notAnAnswer(flags: 0)), (head(1, flags: 0x8403), .notAnAnswer(flags: 0x8403)),
      (head(1, flags: 0xA800), .notAnAnswer(flags: 0xA800)),
      // A pointer to itself, one forwards, one into the header, and a loop over a label.
      (answer([0xC0, 12]), .badPointer(to: 12)), (answer([0xC0, 14, 0]), .badPointer(to: 14)),
      (answer([0xC0, 0]), .badPointer(to: 0)), (answer([1, 0x61, 0xC0, 12]), .badPointer(to: 12)),
      (answer([0xC0]), .truncated), (answer([0x41]), .badLabel(0x41)), (answer([0x80, 0]), .badLabel(0x80)),
      (answer([5, 0x61]), .truncated), (answer(record(host, 1, [127, 0, 0])), .truncated),
      (answer(record(host, 1, [127, 0, 0, 1, 9])), .wrongLength(type: 1)),
      (answer(record(tactus, 12, [0, 0])), .wrongLength(type: 12)),
      (answer(record(pi, 16, [5, 0x61])), .truncated),
      (answer(record(pi, 33, [0, 0, 0, 0, 31, 64, 0, 7])), .wrongLength(type: 33)),
      (answer(tooLongName.bytes), .nameTooLong), ([UInt8](repeating: 0, count: 9_001), .tooLong(9_001)),
    ] as [([UInt8], DNSMessage.Flaw)])
  func hostile(bytes: [UInt8], flaw: DNSMessage.Flaw) {
    #expect(throws: flaw) { try DNSMessage.decode(bytes) }
  }

  @Test("a name of 255 bytes is read, and one that becomes longer by a pointer is not")
  func longNames() throws {
    let label = [UInt8](repeating: 0x61, count: 63)
    let longest = DNSName(labels: [label, label, label, Array(label.dropLast(2))])
    #expect(longest.bytes.count == 255)
    let message = try DNSMessage.decode(Self.answer(Self.record(longest, 1, [10, 0, 0, 1])))
    #expect(message.records.map(\.name) == [longest])
    var pointed = Self.head(2)
    pointed += Self.record(longest, 1, [10, 0, 0, 1])
    pointed += [1, 0x61, 0xC0, 12]
    #expect(throws: DNSMessage.Flaw.nameTooLong) { try DNSMessage.decode(pointed) }
  }

  @Test("a name through 32 pointers is read, and one through 33 is not", arguments: [32, 33])
  func chained(pointers: Int) throws {
    // The data of a record of an unknown type: a name, and pointers each of which leads to the one before.
    var data: [UInt8] = [1, 0x61, 0]
    let start = 12 + 1 + 10
    for index in 0..<(pointers - 1) {
      let target = index == 0 ? start : start + 3 + 2 * (index - 1)
      data += [0xC0 | UInt8(target >> 8), UInt8(target & 0xFF)]
    }
    let last = start + data.count - 2
    var bytes = Self.head(2)
    bytes += Self.record(DNSName([String]()), 99, data)
    bytes += [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF), 0, 1, 0, 1, 0, 0, 0, 10, 0, 4, 10, 0, 0, 1]
    if pointers == 32 {
      #expect(try DNSMessage.decode(bytes).records.map(\.name) == [DNSName(["a"])])
    } else {
      #expect(throws: DNSMessage.Flaw.tooManyPointers) { try DNSMessage.decode(bytes) }
    }
  }

  @Test("10,000 records are refused by the header, whether they follow or not; so is one more than may be")
  func many() {
    let one = Self.record(DNSName([String]()), 1, [10, 0, 0, 1])
    #expect(throws: DNSMessage.Flaw.tooManyRecords(10_000)) { try DNSMessage.decode(Self.head(10_000)) }
    var whole = Self.head(10_000)
    for _ in 0..<10_000 { whole += one }
    #expect(throws: DNSMessage.Flaw.tooLong(whole.count)) { try DNSMessage.decode(whole) }
    var oneMore = Self.head(513)
    for _ in 0..<513 { oneMore += one }
    #expect(throws: DNSMessage.Flaw.tooManyRecords(513)) { try DNSMessage.decode(oneMore) }
  }

  @Test("records of other types and classes are passed over")
  func others() throws {
    var chaos = Self.record(Self.host, 1, [10, 0, 0, 1])
    chaos[Self.host.bytes.count + 3] = 3
    var bytes = Self.head(3)
    bytes += Self.record(Self.host, 47, [1, 2, 3])
    bytes += chaos
    bytes += Self.record(Self.host, 1, [10, 0, 0, 2])
    #expect(try DNSMessage.decode(bytes).records.map(\.content) == [.address([10, 0, 0, 2])])
  }

  @Test("a query is that of RFC 6762: one question, which asks for an answer to the sender alone")
  func query() {
    let question = DNSMessage.Question(name: Self.tactus, type: DNSMessage.Kind.pointer)
    // As it was sent when Avahi gave the answer above.
    let sent = Self.bytes("7cf500000001000000000000075f746163747573045f746370056c6f63616c00000c8001")
    #expect(DNSMessage.query(0x7CF5, [question]) == sent)
  }

  @Test("names are the same in any case")
  func cases() {
    #expect(DNSName(["PI", "Local"]) == DNSName(["pi", "local"]) && DNSName(["pi"]) != DNSName(["pi", "local"]))
    #expect(Set([DNSName(["PI"]), DNSName(["pi"])]).count == 1)
  }
}

@Suite("What answers of multicast DNS amount to")
struct ServiceAnswersTests {
  private typealias Message = DNSMessageTests
  private let found = ServiceAnswers.Service(
    name: "Tactus on pi", host: "pi.local", port: 8000, texts: ["tls": "1"], addresses: [[10, 0, 0, 1]])

  private static func message(_ records: [DNSMessage.Record]) -> DNSMessage { DNSMessage(id: 1, records: records) }

  private static func record(
    _ name: DNSName, _ content: DNSMessage.Content, seconds: UInt32 = 10
  ) -> DNSMessage.Record {
    DNSMessage.Record(name: name, secondsToLive: seconds, content: content)
  }

  private static let pointer = record(Message.tactus, .pointer(Message.pi))
  private static let service = record(Message.pi, .service(host: Message.host, port: 8000))
  private static let texts = record(Message.pi, .text([Array("tls=1".utf8)]))
  private static let address = record(Message.host, .address([10, 0, 0, 1]))

  @Test("two daemons of one machine are two services, and nothing more is asked for")
  func real() throws {
    var answers = ServiceAnswers(Message.tactus)
    answers.hear(try DNSMessage.decode(Message.avahi), in: 1)
    let texts = ["version": "0.1.0", "api": "/api", "tls": "0", "systems": "robot"]
    let addresses: [[UInt8]] = [[UInt8](repeating: 0, count: 15) + [1], [127, 0, 0, 1]]
    #expect(
      answers.services == [
        ServiceAnswers.Service(
          name: "Tactus on pi", host: "bench.local", port: 8101, texts: texts, addresses: addresses),
        ServiceAnswers.Service(
          name: "Tactus on pi #2", host: "bench.local", port: 8102, texts: texts, addresses: addresses),
      ])
    #expect(answers.questions == [DNSMessage.Question(name: Message.tactus, type: 12)])
    // The same once more is the same.
    answers.hear(try DNSMessage.decode(Message.avahi), in: 2)
    #expect(answers.services.count == 2 && answers.services.allSatisfy { $0.addresses.count == 2 })
  }

  @Test("what an answer leaves out is asked for: first the host and the texts, then the addresses")
  func parts() {
    var answers = ServiceAnswers(Message.tactus)
    answers.hear(Self.message([Self.pointer]), in: 1)
    #expect(answers.services.isEmpty)
    #expect(answers.questions.map(\.type) == [12, 33, 16] && answers.questions.last?.name == Message.pi)
    answers.hear(Self.message([Self.service, Self.texts]), in: 2)
    #expect(answers.services.isEmpty)
    #expect(answers.questions == [.init(name: Message.tactus, type: 12), .init(name: Message.host, type: 1)])
    answers.hear(Self.message([Self.address]), in: 3)
    #expect(answers.services == [found] && answers.questions.count == 1)
  }

  @Test("the records of one answer may have any order")
  func order() {
    var answers = ServiceAnswers(Message.tactus)
    answers.hear(Self.message([Self.address, Self.texts, Self.service, Self.pointer]), in: 1)
    #expect(answers.services == [found])
  }

  @Test("another address in a later round takes the place of the first; two of one round are both kept")
  func moved() {
    var answers = ServiceAnswers(Message.tactus)
    answers.hear(Self.message([Self.pointer, Self.service, Self.texts, Self.address]), in: 1)
    answers.hear(Self.message([Self.record(Message.host, .address([10, 0, 0, 2]))]), in: 1)
    #expect(answers.services.first?.addresses == [[10, 0, 0, 1], [10, 0, 0, 2]])
    answers.hear(Self.message([Self.record(Message.host, .address([10, 0, 0, 3]))]), in: 2)
    #expect(answers.services.first?.addresses == [[10, 0, 0, 3]])
  }

  @Test("a daemon that is withdrawn, or that was not heard of for some rounds, is gone")
  func gone() {
    var answers = ServiceAnswers(Message.tactus)
    let whole = Self.message([Self.pointer, Self.service, Self.texts, Self.address])
    answers.hear(whole, in: 1)
    answers.hear(Self.message([Self.record(Message.tactus, .pointer(Message.pi), seconds: 0)]), in: 1)
    #expect(answers.services.isEmpty)
    answers.hear(whole, in: 2)
    answers.forget(before: 2)
    #expect(answers.services == [found])
    answers.forget(before: 3)
    #expect(answers.services.isEmpty && answers.questions.count == 1)
  }

  @Test("names not seen as they are or in no UTF-8, other types, hosts that are none and the port 0 are not taken")
  func refused() {
    let names: [[UInt8]] = [
      Array("a\u{1B}[2J".utf8), Array("a\u{202E}b".utf8), Array("a\u{2028}b".utf8), [0xFF, 0xFE],
    ]
    for name in names {
      var answers = ServiceAnswers(Message.tactus)
      let instance = DNSName(labels: [name] + Message.tactus.labels)
      answers.hear(Self.message([Self.record(Message.tactus, .pointer(instance))]), in: 1)
      #expect(answers.questions.count == 1)
    }
    for other in [DNSName(["a", "_http", "_tcp", "local"]), Message.tactus, DNSName([String]())] {
      var answers = ServiceAnswers(Message.tactus)
      answers.hear(Self.message([Self.record(Message.tactus, .pointer(other))]), in: 1)
      #expect(answers.questions.count == 1)
    }
    for service in [
      DNSMessage.Content.service(host: DNSName(["a b"]), port: 8000), .service(host: DNSName([String]()), port: 8000),
      .service(host: Message.host, port: 0),
    ] {
      var answers = ServiceAnswers(Message.tactus)
      answers.hear(
        Self.message([Self.pointer, Self.record(Message.pi, service), Self.texts, Self.address]), in: 1)
      #expect(answers.services.isEmpty)
    }
  }

  @Test("a network full of daemons: 64 are kept, 16 addresses of each, 32 texts; a query has 8 questions")
  func limits() {
    var answers = ServiceAnswers(Message.tactus)
    let names = (0..<500).map { DNSName(["daemon \($0)", "_tactus", "_tcp", "local"]) }
    answers.hear(Self.message(names.map { Self.record(Message.tactus, .pointer($0)) }), in: 1)
    #expect(answers.questions.count == 8)
    let texts = DNSMessage.Content.text((0..<100).map { Array("k\($0)=\($0)".utf8) })
    answers.hear(Self.message(names.map { Self.record($0, .service(host: Message.host, port: 1)) }), in: 1)
    answers.hear(Self.message(names.map { Self.record($0, texts) }), in: 1)
    answers.hear(
      Self.message((0..<200).map { Self.record(Message.host, .address([10, 0, 0, UInt8($0)])) }), in: 1)
    #expect(answers.services.count == 64)
    #expect(answers.services.allSatisfy { $0.addresses.count == 16 && $0.texts.count == 32 })
  }

  @Test("texts: keys in any case, the first of a repeated one counts, a key alone is empty, none is passed over")
  func keys() {
    var answers = ServiceAnswers(Message.tactus)
    let strings = ["TLS=1", "tls=0", "quiet", "a=b=c", "=nothing", ""].map { Array($0.utf8) }
    answers.hear(
      Self.message([Self.pointer, Self.service, Self.record(Message.pi, .text(strings)), Self.address]), in: 1)
    #expect(answers.services.first?.texts == ["tls": "1", "quiet": "", "a": "b=c"])
  }
}
