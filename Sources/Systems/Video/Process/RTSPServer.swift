@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Glibc
  import Peers
  import Synchronization
  import Tactus
  import Video

  /// The RTSP server for `rtsp://HOST:PORT/stream`. All viewers get the frames of the same encoder.
  ///
  /// Frames are pushed into the source element of a GStreamer medium; camera and encoder are not part of the server. The medium is
  /// created for the first viewer and then kept: GStreamer 1.22 may give one that is being torn down for the last viewer to the next
  /// viewer, who then gets 503. While no viewer plays, no frames are pushed, so that no viewer begins with old frames.
  ///
  /// The server is created and opened on the main thread; viewers come on GStreamer's threads.
  // Safe: what those threads touch is locked, or set before they exist.
  final class RTSPServer: @unchecked Sendable {
    struct Handlers: Sendable {
      /// The function that is called on any thread when the number of streams that are prepared or watched has changed.
      let changed: @Sendable () -> Void
      /// The function that is called on any thread when a viewer needs a key frame.
      let needsKey: @Sendable () -> Void
      /// The function that is called on any thread when sessions or connections exceed a limit, so that `tidy` must be
      /// called soon.
      let crowded: @Sendable () -> Void
      /// Returns the reason why the camera has failed and viewers are rejected, or `nil` if the camera works.
      let refusal: @Sendable () -> String?
    }

    static let path = "/stream"

    private struct Feed: Sendable {
      var frames: FrameFeed
      /// Whether the medium has received a frame, so that it can be described to viewers.
      var isPrepared = false
    }
    private struct State {
      /// The feeds by the addresses of their media.
      var feeds: [UInt: Feed] = [:]
      /// The addresses of connections that have requested the description of the stream or are playing it.
      var looking: Set<UInt> = []
      /// The sockets of the connections by the connections' addresses. Each socket is a descriptor that the server owns.
      var sockets: [UInt: Int32] = [:]
      /// The connections by their addresses, and the sessions by their names.
      var places: ViewerPlaces<PeerNetwork>
      var ever: UInt64 = 0
      var refused: UInt64 = 0
    }

    private let server: UnsafeMutablePointer<GstRTSPServer>
    private let state: Mutex<State>
    private let settings: VideoSettings
    private let handlers: Handlers
    /// The authentication, or `nil` if every client that reaches the port may watch.
    private var authority: RTSPAuthority?
    private var isListening = false

    init(_ settings: VideoSettings, clock: UnsafeMutablePointer<GstClock>, handlers: Handlers) {
      self.settings = settings
      self.handlers = handlers
      state = Mutex(State(places: ViewerPlaces(limit: Int(settings.viewerLimit))))
      server = gst_rtsp_server_new()
      gst_rtsp_server_set_address(server, settings.bindAddress)
      gst_rtsp_server_set_service(server, "\(settings.port)")
      let removed:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
          _, session, context in RTSPServer.from(context).ended(session!)
        }
      withPool { pool in
        // `ViewerPlaces` decides who has a place. This limit is for sessions that come faster than others can be ended.
        gst_rtsp_session_pool_set_max_sessions(pool, guint(settings.viewerLimit) * 4 + 64)
        GStreamer.connect(pool, "session-removed", unsafeBitCast(removed, to: GCallback.self), context)
      }
      giveThreads()
      let factory = factory(clock)
      if !settings.user.isEmpty { restrict(factory) }
      let mounts = gst_rtsp_server_get_mount_points(server)
      gst_rtsp_mount_points_add_factory(mounts, Self.path, factory)
      g_object_unref(mounts)
      let connected: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
        _, client, context in RTSPServer.from(context).welcome(client!)
      }
      GStreamer.connect(server, "client-connected", unsafeBitCast(connected, to: GCallback.self), context)
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func from(_ context: UnsafeMutableRawPointer?) -> RTSPServer {
      Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    /// Opens the port and returns its number.
    ///
    /// - Throws: an error if the port is taken or the address is not one of this computer.
    func open() throws(VideoFailure) -> UInt16 {
      precondition(!isListening, "a server is opened once")
      guard gst_rtsp_server_attach(server, nil) != 0 else {
        let address = settings.bindAddress.contains(":") ? "[\(settings.bindAddress)]" : settings.bindAddress
        throw VideoFailure(
          "cannot listen on TCP \(address):\(settings.port): the port is taken, or the address is not this machine's")
      }
      isListening = true
      return UInt16(clamping: gst_rtsp_server_get_bound_port(server))
    }

    /// Gives each connection a thread, of which there are as many as connections (`ViewerPlaces`): GStreamer reads a request for as long
    /// as its bytes come, and by itself serves all connections by one thread, which a line without an end keeps from everybody else.
    private func giveThreads() {
      guard let threads = gst_rtsp_server_get_thread_pool(server) else { return }
      gst_rtsp_thread_pool_set_max_threads(threads, -1)
      g_object_unref(threads)
    }

    private func factory(_ clock: UnsafeMutablePointer<GstClock>) -> UnsafeMutablePointer<GstRTSPMediaFactory> {
      let factory = gst_rtsp_media_factory_new()!
      gst_rtsp_media_factory_set_launch(
        factory,
        "( \(FrameFeed.description) ! rtph264pay name=pay0 pt=96 config-interval=-1 aggregate-mode=zero-latency )"
      )
      gst_rtsp_media_factory_set_shared(factory, 1)
      gst_rtsp_media_factory_set_clock(factory, clock)
      gst_rtsp_media_factory_set_latency(factory, 0)
      var protocols = GST_RTSP_LOWER_TRANS_TCP.rawValue
      if offerDatagrams(factory) { protocols |= GST_RTSP_LOWER_TRANS_UDP.rawValue }
      gst_rtsp_media_factory_set_protocols(factory, GstRTSPLowerTrans(rawValue: protocols))
      let configure: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
        _, media, context in RTSPServer.from(context).prepare(media!)
      }
      GStreamer.connect(factory, "media-configure", unsafeBitCast(configure, to: GCallback.self), context)
      return factory
    }

    /// Binds the RTP and RTCP ports to the address of the server; without a pool GStreamer would open them on every address of both
    /// families. Returns whether datagrams can be offered.
    private func offerDatagrams(_ factory: UnsafeMutablePointer<GstRTSPMediaFactory>) -> Bool {
      let pool = gst_rtsp_address_pool_new()!
      defer { g_object_unref(pool) }
      // Viewers with either kind of address come to `::`.
      let addresses = settings.bindAddress == "::" ? ["::", "0.0.0.0"] : [settings.bindAddress]
      let taken = addresses.filter { gst_rtsp_address_pool_add_range(pool, $0, $0, 49_152, 65_535, 0) != 0 }
      guard !taken.isEmpty else { return false }
      gst_rtsp_media_factory_set_address_pool(factory, pool)
      return true
    }

    private func restrict(_ factory: UnsafeMutablePointer<GstRTSPMediaFactory>) {
      let authority = RTSPAuthority(user: settings.user, password: settings.password) { [unowned self] in
        state.withLock { $0.refused += 1 }
      }
      self.authority = authority
      gst_rtsp_server_set_auth(server, authority.object)
      let permissions = gst_rtsp_permissions_new()!
      for permission in [GST_RTSP_PERM_MEDIA_FACTORY_ACCESS, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT] {
        gst_rtsp_permissions_add_permission_for_role(permissions, RTSPAuthority.role, permission, 1)
      }
      gst_rtsp_media_factory_set_permissions(factory, permissions)
      gst_mini_object_unref(UnsafeMutableRawPointer(permissions).assumingMemoryBound(to: GstMiniObject.self))
    }

    // MARK: viewers

    private typealias Context = UnsafeMutablePointer<GstRTSPContext>
    private typealias Request = @convention(c) (UnsafeMutableRawPointer?, Context?, UnsafeMutableRawPointer?) -> Void
    private typealias Question =
      @convention(c) (UnsafeMutableRawPointer?, Context?, UnsafeMutableRawPointer?) -> GstRTSPStatusCode

    private func welcome(_ client: UnsafeMutableRawPointer) {
      limit(client)
      // A connection whose session has ended is closed after ten seconds.
      GStreamer.set(client, "post-session-timeout", "10")
      let peer = Self.peer(client)
      let socket = Self.socket(client)
      let isCrowded = state.withLock { state in
        state.sockets[UInt(bitPattern: client)] = socket
        state.places.connect(UInt(bitPattern: client), of: peer, at: MonotonicClock.now)
        return state.places.isCrowded
      }
      if isCrowded { handlers.crowded() }
      let comes: Question = { client, _, context in
        RTSPServer.from(context).hears(client!)
        return GST_RTSP_STS_OK
      }
      for method in ["options", "setup", "pause", "teardown", "get-parameter", "set-parameter"] {
        GStreamer.connect(client, "pre-\(method)-request", unsafeBitCast(comes, to: GCallback.self), context)
      }
      let asks: Question = { client, _, context in RTSPServer.from(context).admit(client!) }
      GStreamer.connect(client, "pre-describe-request", unsafeBitCast(asks, to: GCallback.self), context)
      let looks: Request = { client, _, context in RTSPServer.from(context).looks(client!) }
      GStreamer.connect(client, "describe-request", unsafeBitCast(looks, to: GCallback.self), context)
      let wants: Question = { client, request, context in
        RTSPServer.from(context).hears(client!)
        return RTSPServer.from(context).mayPlay(request!)
      }
      GStreamer.connect(client, "pre-play-request", unsafeBitCast(wants, to: GCallback.self), context)
      let plays: Request = { client, _, context in RTSPServer.from(context).begins(client!) }
      GStreamer.connect(client, "play-request", unsafeBitCast(plays, to: GCallback.self), context)
      let ends: Request = { client, request, context in RTSPServer.from(context).leaves(client!, request!) }
      GStreamer.connect(client, "teardown-request", unsafeBitCast(ends, to: GCallback.self), context)
      let pauses: Request = { _, request, context in RTSPServer.from(context).pauses(request!) }
      GStreamer.connect(client, "pause-request", unsafeBitCast(pauses, to: GCallback.self), context)
      let opens: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void =
        {
          client, session, context in RTSPServer.from(context).opens(session!, of: client!)
        }
      GStreamer.connect(client, "new-session", unsafeBitCast(opens, to: GCallback.self), context)
      let closed: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { client, context in
        RTSPServer.from(context).vanishes(client!)
      }
      GStreamer.connect(client, "closed", unsafeBitCast(closed, to: GCallback.self), context)
    }

    private static func peer(_ client: UnsafeMutableRawPointer) -> PeerNetwork {
      let connection = gst_rtsp_client_get_connection(client.assumingMemoryBound(to: GstRTSPClient.self))
      return PeerNetwork(connection.flatMap(gst_rtsp_connection_get_ip).map { String(cString: $0) } ?? "")
    }

    /// The greatest body of a request in bytes. A viewer sends no body, or one of a few parameters.
    private static let bodyLimit: guint = 64 << 10
    /// The size of the kernel's buffer for a connection's unread bytes. GStreamer reads them one by one, even if the peer has gone.
    private static let receiveBuffer: gint = 16 << 10

    /// Limits the resources of a connection that has not shown a password yet, and disables Nagle's algorithm, with which the end of a frame would
    /// wait up to 40 ms for the acknowledgement of its beginning.
    private func limit(_ client: UnsafeMutableRawPointer) {
      guard let connection = gst_rtsp_client_get_connection(client.assumingMemoryBound(to: GstRTSPClient.self)),
        let socket = gst_rtsp_connection_get_write_socket(connection)
      else { return }
      // GStreamer allocates the whole length that a request announces.
      gst_rtsp_connection_set_content_length_limit(connection, Self.bodyLimit)
      g_socket_set_option(socket, SOL_SOCKET, SO_RCVBUF, Self.receiveBuffer, nil)
      g_socket_set_option(socket, gint(truncatingIfNeeded: IPPROTO_TCP), TCP_NODELAY, 1, nil)
    }

    /// Returns a duplicate of the descriptor of a connection's socket, which the caller owns, or −1.
    private static func socket(_ client: UnsafeMutableRawPointer) -> Int32 {
      guard let connection = gst_rtsp_client_get_connection(client.assumingMemoryBound(to: GstRTSPClient.self)),
        let socket = gst_rtsp_connection_get_read_socket(connection)
      else { return -1 }
      return fcntl(g_socket_get_fd(socket), F_DUPFD_CLOEXEC, 0)
    }

    /// The longest time that GStreamer waits for the first frame before it answers DESCRIBE.
    private static let descriptionTime = Nanoseconds.seconds(20)

    /// Notes that a client has sent a whole request, whose answer may take a time.
    private func hears(_ client: UnsafeMutableRawPointer, answerTime: Nanoseconds = .zero) {
      state.withLock { $0.places.hear(UInt(bitPattern: client), at: MonotonicClock.now + answerTime) }
    }

    /// Returns whether a description may be requested. The password has not been checked yet, so nothing may be started here.
    private func admit(_ client: UnsafeMutableRawPointer) -> GstRTSPStatusCode {
      hears(client, answerTime: Self.descriptionTime)
      let isBroken = handlers.refusal() != nil
      let isWelcome = state.withLock { state in
        guard !isBroken, !state.places.isFull else {
          state.refused += 1
          return false
        }
        return true
      }
      return isWelcome ? GST_RTSP_STS_OK : GST_RTSP_STS_SERVICE_UNAVAILABLE
    }

    private func looks(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      hears(client)
      _ = state.withLock { $0.looking.insert(number) }
      handlers.changed()
    }

    /// Returns whether a session may play, as a status. A session that has waited longer than others may already have been ended.
    private func mayPlay(_ request: Context) -> GstRTSPStatusCode {
      guard let session = request.pointee.session else { return GST_RTSP_STS_SESSION_NOT_FOUND }
      return state.withLock { state in
        let isFirst = state.places.playing == 0
        switch state.places.play(Self.name(session), at: MonotonicClock.now) {
        case .gone: return GST_RTSP_STS_SESSION_NOT_FOUND
        case .full:
          state.refused += 1
          return GST_RTSP_STS_SERVICE_UNAVAILABLE
        case .welcome(let hasNotPlayed):
          if hasNotPlayed { state.ever += 1 }
          if isFirst { for media in state.feeds.keys { state.feeds[media]!.frames.needsKey = true } }
          return GST_RTSP_STS_OK
        }
      }
    }

    private func begins(_ client: UnsafeMutableRawPointer) {
      _ = state.withLock { $0.looking.insert(UInt(bitPattern: client)) }
      handlers.needsKey()
      handlers.changed()
    }

    private func pauses(_ request: Context) {
      guard let session = request.pointee.session else { return }
      state.withLock { $0.places.pause(Self.name(session), at: MonotonicClock.now) }
    }

    private func leaves(_ client: UnsafeMutableRawPointer, _ request: Context) {
      state.withLock { state in
        state.looking.remove(UInt(bitPattern: client))
        if let session = request.pointee.session { state.places.end(Self.name(session)) }
      }
      handlers.changed()
    }

    private func opens(_ session: UnsafeMutableRawPointer, of client: UnsafeMutableRawPointer) {
      let (name, peer) = (Self.name(session.assumingMemoryBound(to: GstRTSPSession.self)), Self.peer(client))
      let isCrowded = state.withLock { state in
        state.places.open(name, by: UInt(bitPattern: client), of: peer, at: MonotonicClock.now)
        return state.places.isCrowded
      }
      if isCrowded { handlers.crowded() }
    }

    private func ended(_ session: UnsafeMutableRawPointer) {
      let name = Self.name(session.assumingMemoryBound(to: GstRTSPSession.self))
      state.withLock { $0.places.end(name) }
      handlers.changed()
    }

    private static func name(_ session: UnsafeMutablePointer<GstRTSPSession>) -> String {
      String(cString: gst_rtsp_session_get_sessionid(session))
    }

    /// Ends the sessions of a connection that has closed. They would otherwise be kept for a minute and take the places of others.
    private func vanishes(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      authority?.forget(number)
      let sessions = state.withLock { state in
        state.looking.remove(number)
        if let socket = state.sockets.removeValue(forKey: number), socket >= 0 { close(socket) }
        return state.places.disconnect(number)
      }
      handlers.changed()
      end(sessions)
    }

    private func end(_ sessions: [String]) {
      withPool { pool in
        for name in sessions {
          guard let session = gst_rtsp_session_pool_find(pool, name) else { continue }
          gst_rtsp_session_pool_remove(pool, session)
          g_object_unref(session)
        }
      }
    }

    private func withPool(_ body: (UnsafeMutablePointer<GstRTSPSessionPool>) -> Void) {
      guard let pool = gst_rtsp_server_get_session_pool(server) else { return }
      body(pool)
      g_object_unref(pool)
    }

    var viewers: (now: Int, ever: UInt64, refused: UInt64) {
      state.withLock { ($0.places.playing, $0.ever, $0.refused) }
    }

    /// Ends connections that send no whole request, sessions that are not played and those whose viewers have vanished without a message. The
    /// function is to be called often, on the main thread.
    func tidy() {
      let leavers = state.withLock { state in
        var leavers = state.places.takeLeavers(at: MonotonicClock.now)
        leavers.connections += state.places.takeSilent(at: MonotonicClock.now)
        // Each connection is closed by its own thread once that has read the end, because no thread may close a connection that another one reads.
        for socket in leavers.connections.compactMap({ state.sockets[$0] }) {
          shutdown(socket, Int32(clamping: SHUT_RDWR))
        }
        return leavers
      }
      end(leavers.sessions)
      withPool { _ = gst_rtsp_session_pool_cleanup($0) }
    }

    /// The receivers of all viewers, with their reports.
    var receivers: [RTPReceiver] {
      let media = state.withLock { state in
        state.feeds.filter(\.value.isPrepared).keys.map {
          UInt(bitPattern: g_object_ref(UnsafeMutableRawPointer(bitPattern: $0)))
        }
      }
      return media.flatMap { number -> [RTPReceiver] in
        let one = UnsafeMutableRawPointer(bitPattern: number)!
        defer { g_object_unref(one) }
        guard let stream = gst_rtsp_media_get_stream(one.assumingMemoryBound(to: GstRTSPMedia.self), 0),
          let session = gst_rtsp_stream_get_rtpsession(stream)
        else { return [] }
        defer { g_object_unref(session) }
        return RTPReceiver.all(of: session, named: UInt64(number))
      }
    }

    // MARK: media

    /// Whether frames are needed: a client has requested the description of the stream or is playing it.
    var isWatched: Bool {
      state.withLock { state in !state.looking.isEmpty || state.feeds.values.contains { !$0.isPrepared } }
    }

    private func prepare(_ media: UnsafeMutableRawPointer) {
      let element = gst_rtsp_media_get_element(media.assumingMemoryBound(to: GstRTSPMedia.self))!
      defer { gst_object_unref(element) }
      guard let frames = FrameFeed(in: element) else { return }
      let number = UInt(bitPattern: media)
      state.withLock { $0.feeds[number] = Feed(frames: frames) }
      let prepared: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { media, context in
        RTSPServer.from(context).keep(media!)
      }
      GStreamer.connect(media, "prepared", unsafeBitCast(prepared, to: GCallback.self), context)
      let unprepared: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { media, context in
        RTSPServer.from(context).forget(media!)
      }
      GStreamer.connect(media, "unprepared", unsafeBitCast(unprepared, to: GCallback.self), context)
      // A medium that never had a frame is disposed of without that signal.
      g_object_weak_ref(
        media.assumingMemoryBound(to: GObject.self),
        { context, media in RTSPServer.from(context).forget(UnsafeMutableRawPointer(media!)) }, context)
      handlers.needsKey()
      handlers.changed()
    }

    /// Keeps a medium when its last viewer leaves, by counting as one more viewer.
    private func keep(_ media: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: media)
      let isFirst = state.withLock { state in
        guard state.feeds[number]?.isPrepared == false else { return false }
        state.feeds[number]!.isPrepared = true
        return true
      }
      if isFirst { gst_rtsp_media_prepare(media.assumingMemoryBound(to: GstRTSPMedia.self), nil) }
    }

    private func forget(_ media: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: media)
      let feed = state.withLock { $0.feeds.removeValue(forKey: number) }
      feed?.frames.release()
      handlers.changed()
    }

    /// Pushes a frame to the viewers, on GStreamer's thread. The timestamps of a viewer's pipeline begin when the pipeline does.
    func push(_ frame: EncodedFrame) {
      let needsKey = state.withLock { state in
        var needsKey = false
        let isPlayed = state.places.playing > 0
        for (media, feed) in state.feeds where !feed.isPrepared || isPlayed {
          if !state.feeds[media]!.frames.push(frame) { needsKey = true }
        }
        return needsKey
      }
      if needsKey { handlers.needsKey() }
    }
  }
#endif
