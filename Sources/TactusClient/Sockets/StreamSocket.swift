#if os(Linux)
  import Foundation
  import Glibc

  /// A WebSocket over a TCP connection, for Linux.
  ///
  /// One thread reads. Senders write under a lock and wait at most 5 s. `@unchecked Sendable`: mutable state is behind `lock`; `descriptor` is
  /// closed by the reading thread only, under the lock, and is not written to afterwards.
  final class StreamSocket: EventSocket, @unchecked Sendable {
    /// The limit for connecting, for the answer to the upgrade, and for each write.
    private static let patienceSeconds = 5

    let messages: AsyncThrowingStream<SocketMessage, any Error>
    private let continuation: AsyncThrowingStream<SocketMessage, any Error>.Continuation
    private let lock = NSLock()
    private let descriptor: Int32
    private var isOpen = true

    /// Connects, upgrades and starts to read. The call waits at most 10 s for an address, and longer for a name that its server does not resolve.
    static func open(_ endpoint: Endpoint, token: String?) throws(ClientError) -> StreamSocket {
      let descriptor = try connect(endpoint)
      do throws(ClientError) {
        let rest = try upgrade(descriptor, endpoint, token: token)
        return StreamSocket(descriptor, rest: rest)
      } catch {
        _ = Glibc.close(descriptor)
        throw error
      }
    }

    private init(_ descriptor: Int32, rest: [UInt8]) {
      self.descriptor = descriptor
      // A reader that is behind gets the newest message only, since each state replaces the previous one.
      (messages, continuation) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
      setTimeout(descriptor, SO_RCVTIMEO, seconds: 0)
      let thread = Thread { self.read(rest) }
      thread.name = "tactus-ws"
      thread.start()
    }

    func send(_ message: SocketMessage) async throws(ClientError) {
      try write(WebSocketFrames.bytes(of: message, mask: UInt32.random(in: .min ... .max)))
    }

    func close() {
      try? write(WebSocketFrames.close(mask: UInt32.random(in: .min ... .max)))
      lock.withLock { if isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    private func write(_ bytes: [UInt8]) throws(ClientError) {
      let isDone = lock.withLock { isOpen && writeAll(descriptor, bytes) }
      guard isDone else { throw .unreachable("the WebSocket is closed") }
    }

    /// Reads until the connection ends, whichever side closes it.
    private func read(_ rest: [UInt8]) {
      var frames = WebSocketFrames()
      var bytes = rest
      var failure: ClientError?
      reading: while true {
        do {
          for event in try frames.receive(bytes) {
            switch event {
            case .message(let message): continuation.yield(message)
            case .ping(let payload):
              try? write(WebSocketFrames.pong(payload, mask: UInt32.random(in: .min ... .max)))
            case .close(let code, let reason):
              failure = .unreachable("the daemon has closed the WebSocket: \(code.map(String.init) ?? "") \(reason)")
              break reading
            }
          }
        } catch {
          failure = .unintelligible("no WebSocket frame: \(error)")
          break
        }
        bytes = receive(descriptor)
        if bytes.isEmpty {
          failure = .unreachable("the WebSocket has ended")
          break
        }
      }
      lock.withLock {
        isOpen = false
        _ = Glibc.close(descriptor)
      }
      continuation.finish(throwing: failure)
    }

    private static func connect(_ endpoint: Endpoint) throws(ClientError) -> Int32 {
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var list: UnsafeMutablePointer<addrinfo>?
      let status = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
      guard status == 0 else { throw .unreachable("\(endpoint.host): \(String(cString: gai_strerror(status)))") }
      defer { freeaddrinfo(list) }
      var reason = "\(endpoint): no address"
      var next = list
      while let address = next?.pointee {
        next = address.ai_next
        let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { continue }
        setTimeout(descriptor, SO_SNDTIMEO, seconds: patienceSeconds)
        setTimeout(descriptor, SO_RCVTIMEO, seconds: patienceSeconds)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
        reason = "\(endpoint): \(String(cString: strerror(errno)))"
        _ = Glibc.close(descriptor)
      }
      throw .unreachable(reason)
    }

    /// Returns the bytes that followed the answer.
    private static func upgrade(_ descriptor: Int32, _ endpoint: Endpoint, token: String?) throws(ClientError)
      -> [UInt8]
    {
      let key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
      guard writeAll(descriptor, WebSocketUpgrade.request(endpoint, token: token, key: key)) else {
        throw .unreachable("\(endpoint): the upgrade was not taken")
      }
      var answer: [UInt8] = []
      while true {
        if let (status, end) = WebSocketUpgrade.status(answer) {
          guard status == 101 else {
            throw .unreachable("\(endpoint): no WebSocket, HTTP status \(status.map(String.init) ?? "unknown")")
          }
          return Array(answer[end...])
        }
        let more = receive(descriptor)
        guard !more.isEmpty, answer.count + more.count <= WebSocketUpgrade.longestAnswer else {
          throw .unreachable("\(endpoint): no answer to the WebSocket's upgrade")
        }
        answer += more
      }
    }
  }

  private func setTimeout(_ descriptor: Int32, _ option: Int32, seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Returns the received bytes, or none at the end, after a failure and after the timeout.
  private func receive(_ descriptor: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      var got: Int
      repeat { got = recv(descriptor, buffer.baseAddress, buffer.count, 0) } while got < 0 && errno == EINTR
      count = max(0, got)
    }
  }

  private func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let written = Glibc.send(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
      }
      return true
    }
  }
#endif
