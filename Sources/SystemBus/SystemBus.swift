#if Bonjour || Bluetooth
  import CSystemBus
  import Glibc

  /// A connection to the system's D-Bus, for calls, signals and objects that other programs call.
  ///
  /// It must not be used by several threads at once: its owner keeps it on one queue or thread. Handlers are called there, from
  /// `process` or during a call that waits.
  public final class SystemBus {
    /// The reason why a call failed.
    public struct Failure: Error, Sendable, Hashable {
      /// The name of the error, such as `org.freedesktop.Avahi.CollisionError` or `errno 2`.
      public var name: String
      public var message: String

      public init(name: String, message: String) {
        self.name = name
        self.message = message
      }
    }

    public typealias Handler = (borrowing BusMessage) -> Void
    /// Handles a method call. Returns `true` if the call was answered; with `false` the caller gets the error that there is no such method.
    public typealias MethodHandler = (borrowing BusMessage) -> Bool

    let bus: OpaquePointer
    /// The objects to which libsystemd's handlers point, kept as long as the handlers may be called.
    private var kept: [AnyObject] = []
    private var pending: [ObjectIdentifier: PendingCall] = [:]
    /// The default timeout of a call, in microseconds: one second.
    public static let patienceMicroseconds: UInt64 = 1_000_000

    /// Connects to `address`, or to DBUS_SYSTEM_BUS_ADDRESS, or to the standard address.
    public init(address: String? = nil) throws(Failure) {
      var made: OpaquePointer?
      var result: Int32
      if let address {
        result = sd_bus_new(&made)
        if result >= 0 { result = sd_bus_set_address(made, address) }
        if result >= 0 { result = sd_bus_set_bus_client(made, 1) }
        if result >= 0 { result = sd_bus_negotiate_fds(made, 1) }
        if result >= 0 { result = sd_bus_start(made) }
      } else {
        result = sd_bus_open_system(&made)
      }
      guard result >= 0, let made else {
        if let made { sd_bus_unref(made) }
        throw Failure(errno: -result)
      }
      bus = made
    }

    deinit { sd_bus_flush_close_unref(bus) }

    public var descriptor: Int32 { sd_bus_get_fd(bus) }

    /// The poll events for which to wait on the descriptor.
    public var events: Int16 { Int16(truncatingIfNeeded: max(0, sd_bus_get_events(bus))) }

    /// The instant at which `process` has to be called even if no message arrives, in microseconds of CLOCK_MONOTONIC, or `nil` if only a message is awaited.
    public var deadlineMicroseconds: UInt64? {
      var instant: UInt64 = .max
      return sd_bus_get_timeout(bus, &instant) >= 0 && instant != .max ? instant : nil
    }

    /// Dispatches the messages that have arrived, and calls `afterEach` after every message. Returns `false` if the connection has ended.
    public func process(afterEach: () -> Void = {}) -> Bool {
      while true {
        let result = sd_bus_process(bus, nil)
        if result < 0 { return false }
        if result == 0 { return true }
        afterEach()
      }
    }

    /// Blocks until there is something to `process`, or until the time is over.
    public func wait(microseconds: UInt64) { sd_bus_wait(bus, microseconds) }

    /// Calls `handler` for every signal that matches the rule, as long as the bus exists.
    public func match(_ rule: String, _ handler: @escaping Handler) throws(Failure) {
      let box = HandlerBox(handler)
      kept.append(box)
      try check(sd_bus_add_match(bus, nil, rule, onMessage, Unmanaged.passUnretained(box).toOpaque()))
    }

    /// Calls `handler` for every method call to `path` and paths below.
    public func serve(below path: String, _ handler: @escaping MethodHandler) throws(Failure) {
      let box = MethodHandlerBox(handler)
      kept.append(box)
      try check(sd_bus_add_fallback(bus, nil, path, onMethodCall, Unmanaged.passUnretained(box).toOpaque()))
    }

    /// Takes a well-known name. Throws if another connection has it.
    public func takeName(_ name: String) throws(Failure) { try check(sd_bus_request_name(bus, name, 0)) }

    /// Calls a method and returns its reply. No service is started to answer it. Blocks for at most a second by default.
    public func call(
      _ destination: String, _ path: String, _ interface: String, _ method: String,
      patienceMicroseconds: UInt64 = SystemBus.patienceMicroseconds,
      arguments: (borrowing BusMessage) throws(Failure) -> Void = { (_) throws(Failure) in }
    ) throws(Failure) -> BusMessage {
      let request = try methodCall(destination, path, interface, method, arguments)
      var error = sd_bus_error()
      defer { sd_bus_error_free(&error) }
      var reply: OpaquePointer?
      let result = sd_bus_call(bus, request.pointer, patienceMicroseconds, &error, &reply)
      guard result >= 0, let reply else { throw Failure(error) ?? Failure(errno: -result) }
      return BusMessage(reply)
    }

    /// Calls a method without waiting. `answer` gets the reply, or `nil` and the reason why there is none. After the connection has
    /// ended `answer` is not called.
    public func request(
      _ destination: String, _ path: String, _ interface: String, _ method: String,
      patienceMicroseconds: UInt64 = SystemBus.patienceMicroseconds,
      arguments: (borrowing BusMessage) throws(Failure) -> Void = { (_) throws(Failure) in },
      answer: @escaping (borrowing BusMessage, Failure?) -> Void
    ) throws(Failure) {
      let request = try methodCall(destination, path, interface, method, arguments)
      let call = PendingCall(self, answer)
      pending[ObjectIdentifier(call)] = call
      let result = sd_bus_call_async(
        bus, nil, request.pointer, onReply, Unmanaged.passUnretained(call).toOpaque(), patienceMicroseconds)
      if result < 0 { forget(call) }
      try check(result)
    }

    /// Sends a signal to all listeners.
    public func signal(
      _ path: String, _ interface: String, _ member: String,
      arguments: (borrowing BusMessage) throws(Failure) -> Void
    ) throws(Failure) {
      var made: OpaquePointer?
      try check(sd_bus_message_new_signal(bus, &made, path, interface, member))
      let message = BusMessage(made!)
      try arguments(message)
      try check(sd_bus_send(bus, message.pointer, nil))
    }

    /// Answers a method call.
    public func reply(
      to call: borrowing BusMessage,
      arguments: (borrowing BusMessage) throws(Failure) -> Void = { (_) throws(Failure) in }
    ) throws(Failure) {
      var made: OpaquePointer?
      try check(sd_bus_message_new_method_return(call.pointer, &made))
      let message = BusMessage(made!)
      try arguments(message)
      try check(sd_bus_send(bus, message.pointer, nil))
    }

    /// Answers a method call with an error.
    public func refuse(_ call: borrowing BusMessage, _ failure: Failure) {
      var error = sd_bus_error()
      defer { sd_bus_error_free(&error) }
      sd_bus_error_set(&error, failure.name, failure.message)
      sd_bus_reply_method_error(call.pointer, &error)
    }

    /// Closes the connection before this object is released.
    public func close() { sd_bus_close(bus) }

    /// Writes the queued messages, and blocks until they are written.
    public func flush() { sd_bus_flush(bus) }

    fileprivate func forget(_ call: PendingCall) { pending[ObjectIdentifier(call)] = nil }

    private func methodCall(
      _ destination: String, _ path: String, _ interface: String, _ method: String,
      _ arguments: (borrowing BusMessage) throws(Failure) -> Void
    ) throws(Failure) -> BusMessage {
      var made: OpaquePointer?
      try check(sd_bus_message_new_method_call(bus, &made, destination, path, interface, method))
      let request = BusMessage(made!)
      sd_bus_message_set_auto_start(request.pointer, 0)
      try arguments(request)
      return request
    }

    private func check(_ result: Int32) throws(Failure) {
      if result < 0 { throw Failure(errno: -result) }
    }
  }

  extension SystemBus.Failure {
    init(errno: Int32) { self.init(name: "errno \(errno)", message: String(cString: strerror(errno))) }

    /// Converts an error of libsystemd. The result is `nil` if no error is set.
    init?(_ error: sd_bus_error) {
      guard let name = error.name else { return nil }
      self.init(
        name: String(cString: name), message: error.message.map { String(cString: $0) } ?? String(cString: name))
    }
  }

  private final class HandlerBox {
    let handler: SystemBus.Handler
    init(_ handler: @escaping SystemBus.Handler) { self.handler = handler }
  }

  private final class MethodHandlerBox {
    let handler: SystemBus.MethodHandler
    init(_ handler: @escaping SystemBus.MethodHandler) { self.handler = handler }
  }

  private final class PendingCall {
    unowned let bus: SystemBus
    let answer: (borrowing BusMessage, SystemBus.Failure?) -> Void
    init(_ bus: SystemBus, _ answer: @escaping (borrowing BusMessage, SystemBus.Failure?) -> Void) {
      self.bus = bus
      self.answer = answer
    }
  }

  // libsystemd calls these. They are functions, not closures in a type, so that no actor is assumed.

  private func onMessage(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
  ) -> Int32 {
    Unmanaged<HandlerBox>.fromOpaque(context!).takeUnretainedValue().handler(BusMessage(borrowing: message!))
    return 0
  }

  private func onMethodCall(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
  ) -> Int32 {
    let box = Unmanaged<MethodHandlerBox>.fromOpaque(context!).takeUnretainedValue()
    return box.handler(BusMessage(borrowing: message!)) ? 1 : 0
  }

  private func onReply(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
  ) -> Int32 {
    let call = Unmanaged<PendingCall>.fromOpaque(context!).takeUnretainedValue()
    call.bus.forget(call)
    let failure = sd_bus_message_get_error(message).flatMap { SystemBus.Failure($0.pointee) }
    call.answer(BusMessage(borrowing: message!), failure)
    return 1
  }
#endif
