#if MQTT
  import Dispatch
  import Glibc
  import MQTTMosquitto
  import Synchronization
  import TestSupport

  /// A broker for one client that answers each packet as a test says, for what Debian's broker does not do on request.
  public final class FakeBroker: Sendable {
    /// A packet of the client.
    public struct Packet: Sendable {
      /// The number of the connection, from 1; those on which nothing was sent are not counted.
      public let connection: Int
      /// The type of the packet: 1 is CONNECT, 8 is SUBSCRIBE.
      public let type: UInt8
      public let body: [UInt8]

      /// The version of the protocol in a CONNECT packet: 4 is 3.1.1, 5 is MQTT 5.
      public var version: UInt8 { body[6] }
      public func contains(_ text: String) -> Bool { String(decoding: body, as: UTF8.self).contains(text) }

      /// The acknowledgement in MQTT 5 of a SUBSCRIBE packet with one filter.
      public func acknowledgement(_ code: UInt8) -> [UInt8] { [0x90, 4] + body.prefix(2) + [0, code] }
    }

    /// The answer to a packet: bytes, after which the broker may close the connection.
    public struct Answer: Sendable {
      let bytes: [UInt8]
      let isLast: Bool

      public static let none = Answer(bytes: [], isLast: false)
      public static func bytes(_ bytes: [UInt8]) -> Answer { Answer(bytes: bytes, isLast: false) }
      public static func end(_ bytes: [UInt8] = []) -> Answer { Answer(bytes: bytes, isLast: true) }
    }

    /// The CONNACK packet of MQTT 5 that accepts the client.
    public static let accepted: [UInt8] = [0x20, 3, 0, 0, 0]

    private let reserved = ReservedPort()
    private let listener: Int32
    private let ended = DispatchGroup()
    private let isStopped = Atomic(false)

    public init(answer: @escaping @Sendable (Packet) -> Answer) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = reserved.number.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isListening = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(listener, 8) == 0
        }
      }
      precondition(isListening, "no socket listens on \(reserved.number)")
      self.listener = listener
      ended.enter()
      DispatchQueue(label: "fake broker").async { [ended] in
        var connections = 0
        while case let client = accept(listener, nil, nil), client >= 0 {
          Self.serve(client, &connections, answer)
          close(client)
        }
        ended.leave()
      }
    }

    deinit { stop() }

    /// Ends the broker. Its client must have stopped or be about to lose its connection.
    public func stop() {
      guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
      shutdown(listener, Int32(SHUT_RDWR))
      ended.wait()
      close(listener)
    }

    public func settings() -> MQTTSettings {
      var settings = MQTTSettings(clientID: "tactus")
      settings.port = reserved.number
      // No connection of a test lasts for twice the longest delay.
      settings.shortestDelay = .milliseconds(1)
      return settings
    }

    private static func serve(_ client: Int32, _ connections: inout Int, _ answer: (Packet) -> Answer) {
      var isFirst = true
      while let head = read(client, 1), let length = length(client), let body = read(client, length) {
        if isFirst { connections += 1 }
        isFirst = false
        let answer = answer(Packet(connection: connections, type: head[0] >> 4, body: body))
        var rest = answer.bytes[...]
        while !rest.isEmpty {
          let sent = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
          guard sent > 0 else { return }
          rest = rest.dropFirst(sent)
        }
        if answer.isLast { return }
      }
    }

    /// The remaining length of a packet: seven bits a byte, the lowest first.
    private static func length(_ client: Int32) -> Int? {
      var (length, shift) = (0, 0)
      while let byte = read(client, 1)?[0] {
        length |= Int(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { return length }
      }
      return nil
    }

    private static func read(_ client: Int32, _ count: Int) -> [UInt8]? {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while bytes.count < count {
        let got = recv(client, &buffer, min(buffer.count, count - bytes.count), 0)
        guard got > 0 else { return nil }
        bytes += buffer[..<got]
      }
      return bytes
    }
  }
#endif
