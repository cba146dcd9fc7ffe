#if Bonjour
  import CSystemBus
  import Glibc

  /// A connection to the system's D-Bus. Not for several threads at once: its owner keeps it on one queue.
  final class SystemBus {
    /// Why a call brought nothing.
    struct Failure: Error {
      /// `org.freedesktop.Avahi.CollisionError`
      var name: String
      var message: String
    }

    typealias Handler =
      @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) ->
      Int32

    private let bus: OpaquePointer
    /// A call that is not answered within a second has failed.
    private static let patienceMicroseconds: UInt64 = 1_000_000

    /// Connects to DBUS_SYSTEM_BUS_ADDRESS, or the well-known place.
    init() throws(Failure) {
      var made: OpaquePointer?
      let result = sd_bus_open_system(&made)
      guard result >= 0, let made else { throw Failure(errno: -result) }
      bus = made
    }

    deinit { sd_bus_flush_close_unref(bus) }

    var descriptor: Int32 { sd_bus_get_fd(bus) }

    /// Hands out what has arrived. False: the connection is at its end.
    func process() -> Bool {
      while true {
        let result = sd_bus_process(bus, nil)
        if result < 0 { return false }
        if result == 0 { return true }
      }
    }

    /// Calls `handler` with `context` for every signal that matches, as long as the bus is there.
    func match(_ rule: String, context: UnsafeMutableRawPointer, _ handler: @escaping Handler) throws(Failure) {
      try check(sd_bus_add_match(bus, nil, rule, handler, context))
    }

    /// Calls a method and returns its reply; nobody is started to answer it. Blocks for at most a second.
    func call(
      _ destination: String, _ path: String, _ interface: String, _ method: String,
      arguments: (borrowing BusMessage) throws(Failure) -> Void = { (_) throws(Failure) in }
    ) throws(Failure) -> BusMessage {
      var made: OpaquePointer?
      try check(sd_bus_message_new_method_call(bus, &made, destination, path, interface, method))
      let request = BusMessage(made!)
      sd_bus_message_set_auto_start(request.pointer, 0)
      try arguments(request)
      var error = sd_bus_error()
      defer { sd_bus_error_free(&error) }
      var reply: OpaquePointer?
      let result = sd_bus_call(bus, request.pointer, Self.patienceMicroseconds, &error, &reply)
      guard result >= 0, let reply else {
        guard let name = error.name else { throw Failure(errno: -result) }
        throw Failure(
          name: String(cString: name), message: error.message.map { String(cString: $0) } ?? String(cString: name))
      }
      return BusMessage(reply)
    }

    private func check(_ result: Int32) throws(Failure) {
      if result < 0 { throw Failure(errno: -result) }
    }
  }

  extension SystemBus.Failure {
    init(errno: Int32) { self.init(name: "errno \(errno)", message: String(cString: strerror(errno))) }
  }
#endif
