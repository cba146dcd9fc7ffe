#if Bluetooth
  import Glibc

  /// A file descriptor that this object owns and closes when released.
  final class OwnedDescriptor {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }

  /// The sockets that BlueZ gives a central for writing and for notifications. They preserve message boundaries.
  struct CentralSockets {
    /// The socket for notifications, or `nil` if notifications come as signals.
    let notifications: OwnedDescriptor?
    /// The socket for writes, or `nil` if writes are calls.
    let writes: OwnedDescriptor?

    /// Passes all waiting notifications to `handler`. Returns `false` if bluetoothd has closed its end.
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
      /// BlueZ's buffer is full, so the write has to be repeated later.
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
