#if MQTT
  import Glibc
  import Tactus

  /// Checks whether a host accepts TCP connections, without blocking longer than a given limit.
  ///
  /// libmosquitto connects in a blocking way, for minutes if a host does not answer, and only to the first address of a name. This
  /// probe therefore runs first, so that libmosquitto connects only to a host that answers.
  enum BrokerProbe {
    /// Returns the reason why the host does not accept connections, or `nil` if it does. `interruption` polls readable when the answer is no longer
    /// needed.
    static func failure(host: String, port: UInt16, limit: Nanoseconds, interruption: Int32) -> String? {
      var hints = addrinfo()
      hints.ai_socktype = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue)
      var list: UnsafeMutablePointer<addrinfo>?
      let result = getaddrinfo(host, "\(port)", &hints, &list)
      guard result == 0 else { return String(cString: gai_strerror(result)) }
      defer { freeaddrinfo(list) }
      let until = MonotonicClock.now + limit
      var failure = "the name has no address"
      var next = list
      while let address = next {
        guard let reason = connect(to: address.pointee, until: until, interruption) else { return nil }
        failure = reason
        next = address.pointee.ai_next
      }
      return failure
    }

    private static func connect(to address: addrinfo, until: TickInstant, _ interruption: Int32) -> String? {
      let descriptor = socket(
        address.ai_family,
        address.ai_socktype | Int32(truncatingIfNeeded: SOCK_NONBLOCK.rawValue)
          | Int32(truncatingIfNeeded: SOCK_CLOEXEC.rawValue),
        address.ai_protocol)
      guard descriptor >= 0 else { return String(cString: strerror(errno)) }
      defer { close(descriptor) }
      if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return nil }
      guard errno == EINPROGRESS else { return String(cString: strerror(errno)) }
      var polls = [
        pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0),
        pollfd(fd: interruption, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
      ]
      let left = max(0, (until - MonotonicClock.now).count / 1_000_000)
      guard poll(&polls, 2, Int32(clamping: left)) > 0 else { return "no answer in time" }
      guard polls[0].revents != 0 else { return "given up" }
      var error: Int32 = 0
      var size = socklen_t(clamping: MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
      return error == 0 ? nil : String(cString: strerror(error))
    }
  }

  extension BrokerSocket {
    /// Returns the reason why the listening process is not accepted as the broker, or `nil` if it is the broker that this program has started.
    ///
    /// - Parameter listener: the process that listens, or −errno.
    func failure(_ listener: Int32) -> String? {
      guard listener > 0 else { return "our own mosquitto does not listen: \(String(cString: strerror(-listener)))" }
      return listener == process() ? nil : "process \(listener), which is not our own mosquitto, listens in its place"
    }
  }
#endif
