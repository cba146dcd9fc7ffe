#if Bluetooth
  import Glibc

  /// A file descriptor of our own, closed when released.
  final class OwnedDescriptor {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }

  /// What BlueZ gives a central to write to and to read notifications from: sockets that keep messages apart.
  struct CentralSockets {
    /// It is `nil` if notifications come as signals.
    let notifications: OwnedDescriptor?
    /// It is `nil` if writes are calls.
    let writes: OwnedDescriptor?

    /// Hands out what waits. False: bluetoothd has closed its end.
    func drain(_ handler: (UnsafeRawBufferPointer) -> Void) -> Bool {
      guard let notifications else { return true }
      return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
        while true {
          let count = recv(
            notifications.number, buffer.baseAddress, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
          if count < 0 { return errno == EAGAIN || errno == EINTR }
          if count == 0 { return false }
          handler(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
    }

    enum Outcome {
      case written
      /// BlueZ is behind: later.
      case full
      case closed
    }

    func write(_ bytes: ArraySlice<UInt8>, to socket: OwnedDescriptor) -> Outcome {
      let count = bytes.withUnsafeBytes {
        send(
          socket.number, $0.baseAddress, $0.count,
          Int32(truncatingIfNeeded: MSG_DONTWAIT) | Int32(truncatingIfNeeded: MSG_NOSIGNAL))
      }
      if count == bytes.count { return .written }
      return errno == EAGAIN || errno == EINTR ? .full : .closed
    }
  }
#endif
