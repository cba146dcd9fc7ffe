@_spi(FromOutside) import Conversions

#if MQTT
  import CMosquitto
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus

  /// A client of an MQTT broker, which runs libmosquitto on a separate thread.
  ///
  /// All members may be called from any thread and do not wait, except for `stop`. The client reconnects with a delay that grows until
  /// a connection has lasted, and then restores subscriptions and retained state, except for that of the will's topic. It speaks MQTT 5,
  /// or 3.1.1 to a broker that knows nothing newer. A message is refused and counted if there is no connection or if too many
  /// messages wait before it: memory is bounded, and no caller ever waits for a network.
  public final class MQTTClient: Sendable {
    private let connection: MQTTConnection

    /// Creates a client, which connects from `start` on.
    ///
    /// - Parameter deliver: called with each message on the client's thread: `MQTTInbox.deliver`, or a short function. Messages that
    ///   it publishes are sent immediately.
    /// - Throws: an error for a setting that libmosquitto refuses. It is no error here that no broker answers.
    public init(_ settings: MQTTSettings, deliver: @escaping @Sendable (MQTTMessage) -> Void) throws(MQTTError) {
      connection = try MQTTConnection(settings, deliver: deliver)
    }

    /// Stops the client as `stop` does.
    deinit { connection.stop() }

    /// Starts connecting. The function must be called once.
    public func start() { connection.start() }

    /// Disconnects, after publishing the will if there is one, and ends the thread: within some milliseconds, or at most 2 s if the
    /// broker does not read, plus the time that the resolver takes for a name.
    public func stop() { connection.stop() }

    /// Subscribes now and after every reconnection. `filter` may hold wildcards.
    public func subscribe(_ filter: String) { connection.subscribe(filter) }

    /// Removes a subscription. Messages in flight are still delivered.
    public func unsubscribe(_ filter: String) { connection.unsubscribe(filter) }

    /// Publishes a message. Returns the reason for a refusal, or `nil` if the message was accepted. A retained message is always
    /// accepted while there is room for its topic; an empty one makes the broker delete the retained state.
    @discardableResult
    public func publish(_ message: MQTTMessage) -> MQTTRefusal? { connection.publish(message) }

    /// A copy of the client's state and counts. The value may be read from any thread.
    public var status: MQTTStatus { connection.status }
  }

  /// The part of the client that runs on its thread. libmosquitto is called on this thread only.
  // Safe: what other threads touch is behind the lock or atomic.
  final class MQTTConnection: @unchecked Sendable {
    private struct State {
      var status = MQTTStatus()
      var outbox: MQTTOutbox
      var filters: [String] = []
      /// The filters that are to be subscribed on this connection, and the subscribed ones that are to be removed.
      var newFilters: [String] = []
      var oldFilters: [String] = []
      /// The filters whose subscription the broker has not acknowledged on this connection.
      var unacknowledged: Set<String> = []

      /// The status that the client reports to its users.
      var seen: MQTTStatus {
        var seen = status
        seen.isSubscribed = status.isConnected && unacknowledged.isEmpty && status.refusing.isEmpty
        return seen
      }
    }
    private enum Phase: Int { case new, running, ended }
    /// The version of the protocol by its number in the CONNECT packet.
    private enum Version: Int32 {
      case three = 4
      case five = 5
    }
    /// The properties and reasons of MQTT 5 that are read here (OASIS MQTT 5.0, §2.2.2.2 and §2.4).
    private enum Five {
      static let maximumPacketSize: Int32 = 0x27
      static let unsupportedVersion: Int32 = 0x84
      static let notAuthorised: Int32 = 0x87
      static let takenOver: Int32 = 0x8E
      static let packetTooLarge: Int32 = 0x95
      /// The least code of a failure. libmosquitto's own errors are below.
      static let failures: Int32 = 0x80
    }

    private let settings: MQTTSettings
    private let deliver: @Sendable (MQTTMessage) -> Void
    private let state: Mutex<State>
    /// The bell that is rung when a message is to be sent.
    private let bell: Doorbell
    private let stopBell: Doorbell
    private let isStopping = Atomic<Bool>(false)
    private let phase = Atomic<Int>(Phase.new.rawValue)
    private let ended = DispatchGroup()

    // The following variables are used on the client's thread only.
    private let client: OpaquePointer
    private var isConnected = false
    /// The instant at which the broker accepted the present connection, or `nil` if it has not.
    private var acceptedAt: TickInstant?
    private var backoff: MQTTBackoff
    /// The version of the protocol. It is MQTT 5 until a broker has refused MQTT 5 or has not answered, because a broker states by MQTT 5 why it ends
    /// a connection.
    private var version = Version.five
    /// Whether the broker has answered in the present version.
    private var isVersionKnown = false
    /// The greatest size of a packet in bytes that the broker accepts, or `nil` if the broker has announced no limit.
    private var packetLimit: Int?
    /// The filters that are being subscribed on this connection, by the identifiers of their packets.
    private var asked: [Int32: String] = [:]
    /// The number of messages that were passed to libmosquitto and not yet to the socket.
    private var unsent = 0
    private var failure: String?
    /// Whether the broker has given the reason of the failure.
    private var isReasonKnown = false

    init(_ settings: MQTTSettings, deliver: @escaping @Sendable (MQTTMessage) -> Void) throws(MQTTError) {
      self.settings = settings
      self.deliver = deliver
      backoff = MQTTBackoff(shortest: settings.shortestDelay, longest: settings.longestDelay)
      state = Mutex(
        State(
          outbox: MQTTOutbox(messageLimit: settings.outgoingLimit, retainedLimit: settings.retainedLimit)))
      do throws(RuntimeError) {
        bell = try Doorbell()
        stopBell = try Doorbell()
      } catch {
        throw .system(call: "eventfd", errno: errno)
      }
      mosquitto_lib_init()
      guard let client = mosquitto_new(settings.clientID, true, nil) else {
        throw .setting("client ID", reason: String(cString: strerror(errno)))
      }
      self.client = client
      try configure()
    }

    deinit { mosquitto_destroy(client) }

    private func configure() throws(MQTTError) {
      func check(_ name: String, _ result: Int32) throws(MQTTError) {
        guard result != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw .setting(name, reason: Self.text(result))
      }
      if settings.user != nil || settings.password != nil {
        try check("user and password", mosquitto_username_pw_set(client, settings.user, settings.password))
      }
      if let security = settings.security {
        let folder: String? = security.authorities == nil ? "/etc/ssl/certs" : nil
        try check(
          "TLS",
          mosquitto_tls_set(client, security.authorities, folder, security.certificate, security.key, nil))
      }
      if let will = settings.will {
        guard will.hasValidTopic else { throw .setting("will", reason: "not a topic: \(will.topic)") }
        try check(
          "will", mosquitto_will_set(client, will.topic, Int32(clamping: will.payload.count), will.payload, 1, true))
      }
      try check("version", mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, version.rawValue))
      // Without this option a reply waits 40 ms for the acknowledgement of the previous one.
      mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
      mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
      mosquitto_connect_v5_callback_set(client) { _, context, code, _, properties in
        var limit: UInt32 = 0
        let found = mosquitto_property_read_int32(properties, Five.maximumPacketSize, &limit, false)
        MQTTConnection.from(context).answered(code, packetLimit: found == nil ? nil : Int(limit))
      }
      mosquitto_disconnect_callback_set(client) { _, context, code in MQTTConnection.from(context).lost(code) }
      mosquitto_publish_callback_set(client) { _, context, _ in MQTTConnection.from(context).wasSent() }
      mosquitto_message_callback_set(client) { _, context, message in
        if let message { MQTTConnection.from(context).receive(message.pointee) }
      }
      mosquitto_subscribe_callback_set(client) { _, context, identifier, count, granted in
        let codes = UnsafeBufferPointer(start: granted, count: Int(count))
        MQTTConnection.from(context).acknowledged(identifier, isRefused: codes.contains { $0 >= Five.failures })
      }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MQTTConnection {
      Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    // MARK: any thread

    func start() {
      let (isFirst, _) = phase.compareExchange(
        expected: Phase.new.rawValue, desired: Phase.running.rawValue, ordering: .acquiringAndReleasing)
      precondition(isFirst, "a client starts once")
      ended.enter()
      // A serial queue whose block does not return before the end serves as a thread.
      DispatchQueue(label: "mqtt").async {
        self.run()
        self.ended.leave()
      }
    }

    func stop() {
      isStopping.store(true, ordering: .releasing)
      stopBell.button.ring()
      bell.button.ring()
      ended.wait()
    }

    func subscribe(_ filter: String) {
      state.withLock { state in
        guard !state.filters.contains(filter) else { return }
        state.filters.append(filter)
        state.newFilters.append(filter)
        state.unacknowledged.insert(filter)
      }
      bell.button.ring()
    }

    func unsubscribe(_ filter: String) {
      state.withLock { state in
        guard state.filters.contains(filter) else { return }
        state.filters.removeAll { $0 == filter }
        state.newFilters.removeAll { $0 == filter }
        state.oldFilters.append(filter)
        state.status.refusing.removeAll { $0 == filter }
        state.unacknowledged.remove(filter)
      }
      bell.button.ring()
    }

    func publish(_ message: MQTTMessage) -> MQTTRefusal? {
      let refusal = state.withLock { state -> MQTTRefusal? in
        let refusal: MQTTRefusal?
        if !message.hasValidTopic {
          refusal = .invalidTopic
        } else if message.payload.count > settings.payloadLimit {
          refusal = .tooLong
        } else {
          refusal = state.outbox.add(message, isConnected: state.status.isConnected)
        }
        if let refusal { state.status.refused[refusal, default: 0] += 1 }
        return refusal
      }
      // A message that a callback publishes, on the client's thread, is sent when the callback returns.
      if refusal == nil { bell.button.ring() }
      return refusal
    }

    var status: MQTTStatus { state.withLock { $0.seen } }

    // MARK: the thread

    private func run() {
      while !isStopping.load(ordering: .acquiring) {
        acceptedAt = nil
        serve()
        let pause = backoff.ended(after: age)
        state.withLock { $0.status.lostSoon = backoff.lostSoon }
        stopBell.wait(limit: pause)
      }
    }

    /// The age of the present connection, or of the one that has just ended, or `nil` if the broker did not accept it.
    private var age: Nanoseconds? { acceptedAt.map { MonotonicClock.now - $0 } }

    /// Serves one connection, from the attempt to its end.
    private func serve() {
      (failure, isReasonKnown) = (nil, false)
      let reason =
        settings.localSocket.map { $0.failure(mqtt_listener_at($0.path)) }
        ?? BrokerProbe.failure(
          host: settings.host, port: settings.port, limit: Self.patience, interruption: stopBell.descriptor)
      if let reason { return fail(reason) }
      // libmosquitto takes the host for a path if the port is 0.
      let (host, port) = settings.localSocket.map { ($0.path, 0) } ?? (settings.host, settings.port)
      let result = mosquitto_connect(client, host, Int32(clamping: port), Int32(clamping: settings.keepAliveSeconds))
      guard result == MOSQ_ERR_SUCCESS.rawValue else { return fail(Self.text(result)) }
      if let reason = settings.localSocket?.failure(mqtt_listener(mosquitto_socket(client))) { return leave(reason) }
      let attempted = MonotonicClock.now
      while mosquitto_socket(client) >= 0 {
        if isStopping.load(ordering: .acquiring) { return sayGoodbye() }
        if !isConnected, Self.patience < MonotonicClock.now - attempted {
          failure = "no answer within \(Self.patience)"
          shutdown(mosquitto_socket(client), Int32(truncatingIfNeeded: SHUT_RDWR))
        }
        if isConnected { send() }
        turn(limit: 1_000)
        if backoff.lostSoon > 0, let age, backoff.hasLasted(age) {
          backoff.lasted()
          state.withLock { $0.status.lostSoon = 0 }
        }
      }
      if !isVersionKnown { changeVersion() }
      fail((failure ?? "the connection ended") + possibleCauses)
    }

    /// Changes to the other version of the protocol, for a broker that has not answered in this one.
    private func changeVersion() {
      version = version == .five ? .three : .five
      mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, version.rawValue)
    }

    /// A likely reason why connections end again and again without a reason from the broker; empty if there is none.
    private var possibleCauses: String {
      guard let age, !backoff.hasLasted(age), backoff.lostSoon > 0, !isReasonKnown else { return "" }
      return
        " It was lost soon after it was made before, too, and the broker does not say why: another client may have our client ID "
        + "\(settings.clientID), or the broker may refuse a message of ours as too long or not authorised."
    }

    /// The timeout for a broker to accept a connection.
    private static let patience = Nanoseconds.seconds(15)

    /// Waits for the socket or the bell, then lets libmosquitto do its work.
    private func turn(limit: Int32) {
      let events =
        Int16(truncatingIfNeeded: POLLIN) | (mosquitto_want_write(client) ? Int16(truncatingIfNeeded: POLLOUT) : 0)
      var polls = [
        pollfd(fd: mosquitto_socket(client), events: events, revents: 0),
        pollfd(fd: bell.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
      ]
      poll(&polls, 2, limit)
      if polls[1].revents != 0 { bell.clear() }
      if polls[0].revents & Int16(truncatingIfNeeded: POLLOUT | POLLERR | POLLHUP) != 0 {
        note(mosquitto_loop_write(client, 1))
      }
      if polls[0].revents & Int16(truncatingIfNeeded: POLLIN | POLLERR | POLLHUP) != 0 {
        note(mosquitto_loop_read(client, 1))
      }
      // Messages that a callback published are written here.
      if isConnected, mosquitto_want_write(client) { note(mosquitto_loop_write(client, 1)) }
      note(mosquitto_loop_misc(client))
    }

    /// Sends subscriptions, then messages, as many as libmosquitto may hold unsent.
    private func send(isLast: Bool = false) {
      let (filters, oldFilters, messages) = state.withLock { state in
        defer { (state.newFilters, state.oldFilters) = ([], []) }
        let limit = settings.outgoingLimit - unsent
        let messages = isLast ? state.outbox.takeLast(limit, will: settings.will) : state.outbox.take(limit)
        return (state.newFilters, state.oldFilters, messages)
      }
      for filter in oldFilters { note(mosquitto_unsubscribe(client, nil, filter)) }
      for filter in filters {
        var identifier: Int32 = 0
        note(mosquitto_subscribe(client, &identifier, filter, 0))
        asked[identifier] = filter
      }
      for message in messages { give(message) }
    }

    private func give(_ message: MQTTMessage) {
      if let packetLimit, Self.packetSize(of: message) > packetLimit {
        return state.withLock { state in
          state.status.refused[.tooLong, default: 0] += 1
          state.status.lastFailure =
            "broker \(settings.address): a message of \(message.payload.count) bytes on \(message.topic) is beyond the broker's "
            + "limit of \(packetLimit) bytes"
        }
      }
      unsent += 1
      let result = mosquitto_publish(
        client, nil, message.topic, Int32(clamping: message.payload.count), message.payload, 0, message.isRetained)
      if result != MOSQ_ERR_SUCCESS.rawValue {
        unsent = max(0, unsent - 1)
        note(result)
      }
    }

    /// Returns the size in bytes of a message's packet in MQTT 5: the head, which has at most five bytes, the topic
    /// with its length, the empty properties, and the payload.
    private static func packetSize(of message: MQTTMessage) -> Int {
      5 + 2 + message.topic.utf8.count + 1 + message.payload.count
    }

    /// Records a failure. The first failure of a connection is its cause and ends it, since libmosquitto does not close after all of them.
    private func note(_ result: Int32) {
      // With NO_CONN the connection is closed already, and its cause is recorded.
      guard result != MOSQ_ERR_SUCCESS.rawValue, result != MOSQ_ERR_NO_CONN.rawValue else { return }
      if failure == nil { (failure, isReasonKnown) = (text(result), result >= Five.failures) }
      if mosquitto_socket(client) >= 0 { shutdown(mosquitto_socket(client), Int32(truncatingIfNeeded: SHUT_RDWR)) }
    }

    private func sayGoodbye() {
      if isConnected { send(isLast: true) }
      mosquitto_disconnect(client)
      let until = MonotonicClock.now + .seconds(2)
      while mosquitto_socket(client) >= 0, mosquitto_want_write(client), MonotonicClock.now < until { turn(limit: 100) }
      if mosquitto_socket(client) >= 0 { mosquitto_loop_write(client, 1) }
      lost(0)
    }

    /// Ends the connection if nothing has been received on it.
    private func leave(_ reason: String) {
      mosquitto_disconnect(client)
      if mosquitto_socket(client) >= 0 { mosquitto_loop_write(client, 1) }
      fail(reason)
    }

    private func fail(_ reason: String) {
      isConnected = false
      unsent = 0
      state.withLock { state in
        state.status.ended()
        state.status.failures += 1
        state.status.lastFailure = "broker \(settings.address): \(reason)"
        state.outbox.disconnected()
      }
    }

    // MARK: callbacks of libmosquitto, on the thread

    private func answered(_ code: Int32, packetLimit: Int?) {
      isVersionKnown = code != Five.unsupportedVersion
      guard code == 0 else {
        let words = version == .five ? text(code) : String(cString: mosquitto_connack_string(code))
        (failure, isReasonKnown) = (words, true)
        // Bad user name or password, or not authorised: 4 and 5 (MQTT 3.1.1, section 3.2.2.3), 0x86 and 0x87 (MQTT 5, section 3.2.2.2).
        state.withLock { $0.status.isAccountRefused = [4, 5, 0x86, 0x87].contains(code) }
        // The broker closes a refused connection. If it does not, the connection is closed here.
        if mosquitto_socket(client) >= 0 { shutdown(mosquitto_socket(client), Int32(truncatingIfNeeded: SHUT_RDWR)) }
        return
      }
      isConnected = true
      acceptedAt = MonotonicClock.now
      unsent = 0
      asked = [:]
      self.packetLimit = packetLimit
      state.withLock { state in
        state.status.isConnected = true
        state.status.isAccountRefused = false
        state.status.connections += 1
        state.unacknowledged = Set(state.filters)
        (state.newFilters, state.oldFilters) = (state.filters, [])
        state.outbox.connected(except: settings.will?.topic)
      }
    }

    private func lost(_ code: Int32) {
      note(code)
      isConnected = false
      state.withLock { $0.status.ended() }
    }

    private func wasSent() {
      unsent = max(0, unsent - 1)
      state.withLock { $0.status.sent += 1 }
    }

    private func acknowledged(_ identifier: Int32, isRefused: Bool) {
      guard let filter = asked.removeValue(forKey: identifier) else { return }
      state.withLock { state in
        guard state.unacknowledged.remove(filter) != nil, isRefused else { return }
        state.status.refusedFilters += 1
        state.status.refusing.append(filter)
        state.status.lastFailure = "broker \(settings.address): the subscription to \(filter) was refused"
      }
    }

    private func receive(_ message: mosquitto_message) {
      let count = Int(message.payloadlen)
      guard count <= settings.payloadLimit else { return state.withLock { $0.status.receivedTooLong += 1 } }
      state.withLock { $0.status.received += 1 }
      let bytes = UnsafeRawBufferPointer(start: message.payload, count: count)
      deliver(
        MQTTMessage(topic: String(cString: message.topic), payload: Array(bytes), isRetained: message.retain))
      // Messages that the callback published are sent at once, not after another turn of the loop.
      if isConnected { send() }
    }

    /// Returns an error of libmosquitto, or a reason that the broker has given in MQTT 5, in words.
    private func text(_ result: Int32) -> String {
      switch result {
      case Five.takenOver:
        "another client has connected with our client ID \(settings.clientID), which ended our connection"
      case Five.packetTooLarge: "a message of ours is beyond the broker's limit"
      case Five.notAuthorised: "not authorised: the broker's accounts or access list do not allow it"
      case Five.failures...: String(cString: mosquitto_reason_string(result))
      default: Self.text(result)
      }
    }

    private static func text(_ result: Int32) -> String {
      if result == MOSQ_ERR_ERRNO.rawValue { return String(cString: strerror(errno)) }
      return String(cString: mosquitto_strerror(result))
    }
  }
#endif
