@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer

  /// One request to this process's own RTSP port, as any client could send it: OPTIONS on a connection of its own. No
  /// call blocks. It must be used on the main thread.
  final class RTSPProbe {
    private static let text = "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"
    private static let beginning = Array("RTSP/1.0 200 ".utf8)

    private let socket: UnsafeMutablePointer<GSocket>
    private var hasAsked = false
    private var heard: [UInt8] = []

    /// Begins to connect, or returns `nil` if that cannot be done.
    ///
    /// - Parameter address: the address to which the server is bound; for all addresses that of loopback is taken.
    init?(address: String, port: UInt16) {
      guard let place = Self.place(address, port) else { return nil }
      defer { g_object_unref(place) }
      guard
        let socket = g_socket_new(
          g_socket_address_get_family(place), G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, nil)
      else { return nil }
      self.socket = socket
      g_socket_set_blocking(socket, 0)
      // The connection is usually pending after this call; `answer` reports an error.
      g_socket_connect(socket, place, nil, nil)
    }

    /// Returns whether the address is one in digits, which can be asked.
    static func canAsk(_ address: String) -> Bool {
      guard let place = place(address, 1) else { return false }
      g_object_unref(place)
      return true
    }

    private static func place(_ address: String, _ port: UInt16) -> UnsafeMutablePointer<GSocketAddress>? {
      let digits = ["0.0.0.0": "127.0.0.1", "::": "::1"][address] ?? address
      return g_inet_socket_address_new_from_string(digits, guint(port))
    }

    deinit { g_object_unref(socket) }

    /// Returns whether RTSP has answered, or `nil` if that is still open.
    func answer() -> Bool? {
      if !hasAsked {
        guard isReady(G_IO_OUT) else { return nil }
        guard g_socket_check_connect_result(socket, nil) != 0 else { return false }
        // The request is shorter than the send buffer of any socket.
        guard g_socket_send(socket, Self.text, gsize(clamping: Self.text.utf8.count), nil, nil) == Self.text.utf8.count
        else { return false }
        hasAsked = true
      }
      guard isReady(G_IO_IN) else { return nil }
      var bytes = [CChar](repeating: 0, count: 64)
      let count = Int(g_socket_receive(socket, &bytes, gsize(clamping: bytes.count), nil, nil))
      guard count > 0 else { return false }
      heard += bytes.prefix(count).map { UInt8(bitPattern: $0) }
      guard heard.count >= Self.beginning.count else { return nil }
      return heard.starts(with: Self.beginning)
    }

    private func isReady(_ condition: GIOCondition) -> Bool {
      let any = GIOCondition(rawValue: condition.rawValue | G_IO_ERR.rawValue | G_IO_HUP.rawValue)
      return g_socket_condition_check(socket, any).rawValue != 0
    }
  }
#endif
