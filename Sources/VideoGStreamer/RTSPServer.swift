#if Video
  import CGStreamer
  import Glibc
  import Synchronization
  import Tactus
  import Wire

  /// `rtsp://HOST:PORT/stream`: every viewer gets the frames of the one encoder.
  ///
  /// What viewers are fed from is a source that frames are pushed into; camera and encoder are somebody else's. It is made for the
  /// first viewer and then kept: GStreamer 1.22 may hand one that is just being torn down for the last viewer to the next, who then
  /// gets 503. While nobody plays it is not fed, so that nobody begins with old frames.
  ///
  /// Made and opened on the main thread; viewers come on GStreamer's.
  // Safe: what those threads touch is locked, or set before they exist.
  final class RTSPServer: @unchecked Sendable {
    struct Handlers: Sendable {
      /// The number of streams that somebody prepares or watches has changed, or a viewer needs a key frame. Any thread.
      let changed: @Sendable () -> Void
      let needsKey: @Sendable () -> Void
      /// Nil: the camera is fine; else why it is not, and viewers are turned away.
      let refusal: @Sendable () -> String?
    }

    static let path = "/stream"

    // Sendable: GStreamer counts who holds them, and lets any thread push.
    private struct Feed: @unchecked Sendable {
      let source: UnsafeMutablePointer<GstAppSrc>
      var needsKey = true
      /// It can be described: it has seen a frame.
      var isPrepared = false
      var caps: UnsafeMutablePointer<GstCaps>?
    }
    private struct State {
      /// By the addresses of their media.
      var feeds: [UInt: Feed] = [:]
      /// The addresses of connections that have asked what there is to see, and of those that see it.
      var looking: Set<UInt> = []
      var playing: Set<UInt> = []
      /// By those addresses.
      var sessions: [UInt: [String]] = [:]
      var ever: UInt64 = 0
      var refused: UInt64 = 0
    }

    private let server: UnsafeMutablePointer<GstRTSPServer>
    private let state = Mutex(State())
    private let settings: VideoSettings
    private let handlers: Handlers
    private var isListening = false

    init(_ settings: VideoSettings, clock: UnsafeMutablePointer<GstClock>, handlers: Handlers) {
      self.settings = settings
      self.handlers = handlers
      server = gst_rtsp_server_new()
      gst_rtsp_server_set_address(server, settings.bindAddress)
      gst_rtsp_server_set_service(server, "\(settings.port)")
      if let pool = gst_rtsp_server_get_session_pool(server) {
        gst_rtsp_session_pool_set_max_sessions(pool, guint(settings.viewerLimit))
        g_object_unref(pool)
      }
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

    /// The port in effect.
    ///
    /// - Throws: it is taken, or the address is not this machine's.
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

    private func factory(_ clock: UnsafeMutablePointer<GstClock>) -> UnsafeMutablePointer<GstRTSPMediaFactory> {
      let factory = gst_rtsp_media_factory_new()!
      gst_rtsp_media_factory_set_launch(
        factory,
        "( appsrc name=feed is-live=true format=time min-latency=0 max-latency=2000000000 max-bytes=4000000 "
          + "leaky-type=downstream ! rtph264pay name=pay0 pt=96 config-interval=-1 aggregate-mode=zero-latency )"
      )
      gst_rtsp_media_factory_set_shared(factory, 1)
      gst_rtsp_media_factory_set_clock(factory, clock)
      gst_rtsp_media_factory_set_latency(factory, 0)
      gst_rtsp_media_factory_set_protocols(
        factory, GstRTSPLowerTrans(rawValue: GST_RTSP_LOWER_TRANS_UDP.rawValue | GST_RTSP_LOWER_TRANS_TCP.rawValue))
      let configure: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
        _, media, context in RTSPServer.from(context).prepare(media!)
      }
      GStreamer.connect(factory, "media-configure", unsafeBitCast(configure, to: GCallback.self), context)
      return factory
    }

    /// Who does not know the password is told of nothing but that there is one.
    private func restrict(_ factory: UnsafeMutablePointer<GstRTSPMediaFactory>) {
      let auth = gst_rtsp_auth_new()!
      gst_rtsp_auth_set_supported_methods(auth, GST_RTSP_AUTH_DIGEST)
      let token = gst_rtsp_token_new_empty()!
      gst_rtsp_token_set_string(token, GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, "viewer")
      gst_rtsp_auth_add_digest(auth, settings.user, settings.password, token)
      gst_mini_object_unref(UnsafeMutableRawPointer(token).assumingMemoryBound(to: GstMiniObject.self))
      gst_rtsp_server_set_auth(server, auth)
      g_object_unref(auth)
      let permissions = gst_rtsp_permissions_new()!
      for permission in [GST_RTSP_PERM_MEDIA_FACTORY_ACCESS, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT] {
        gst_rtsp_permissions_add_permission_for_role(permissions, "viewer", permission, 1)
      }
      gst_rtsp_media_factory_set_permissions(factory, permissions)
      gst_mini_object_unref(UnsafeMutableRawPointer(permissions).assumingMemoryBound(to: GstMiniObject.self))
    }

    // MARK: viewers

    private typealias Request =
      @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void

    private func welcome(_ client: UnsafeMutableRawPointer) {
      sendAtOnce(client)
      let described:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) ->
          GstRTSPStatusCode = { _, _, context in RTSPServer.from(context).admit() }
      GStreamer.connect(client, "pre-describe-request", unsafeBitCast(described, to: GCallback.self), context)
      let looks: Request = { client, _, context in RTSPServer.from(context).looks(client!) }
      GStreamer.connect(client, "describe-request", unsafeBitCast(looks, to: GCallback.self), context)
      let plays: Request = { client, _, context in RTSPServer.from(context).begins(client!) }
      GStreamer.connect(client, "play-request", unsafeBitCast(plays, to: GCallback.self), context)
      let ends: Request = { client, _, context in RTSPServer.from(context).leaves(client!) }
      GStreamer.connect(client, "teardown-request", unsafeBitCast(ends, to: GCallback.self), context)
      let pauses: Request = { client, _, context in RTSPServer.from(context).pauses(client!) }
      GStreamer.connect(client, "pause-request", unsafeBitCast(pauses, to: GCallback.self), context)
      let opens: Request = { client, session, context in RTSPServer.from(context).opens(session!, of: client!) }
      GStreamer.connect(client, "new-session", unsafeBitCast(opens, to: GCallback.self), context)
      let closed: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { client, context in
        RTSPServer.from(context).vanishes(client!)
      }
      GStreamer.connect(client, "closed", unsafeBitCast(closed, to: GCallback.self), context)
    }

    /// The end of a frame would wait for the player's acknowledgement of its beginning, which players delay by up to 40 ms.
    private func sendAtOnce(_ client: UnsafeMutableRawPointer) {
      guard let connection = gst_rtsp_client_get_connection(client.assumingMemoryBound(to: GstRTSPClient.self)),
        let socket = gst_rtsp_connection_get_write_socket(connection)
      else { return }
      g_socket_set_option(socket, gint(truncatingIfNeeded: IPPROTO_TCP), TCP_NODELAY, 1, nil)
    }

    /// Before a password has been looked at: nothing may begin here.
    private func admit() -> GstRTSPStatusCode {
      let isBroken = handlers.refusal() != nil
      let isWelcome = state.withLock { state in
        guard !isBroken, state.playing.count < Int(settings.viewerLimit) else {
          state.refused += 1
          return false
        }
        return true
      }
      return isWelcome ? GST_RTSP_STS_OK : GST_RTSP_STS_SERVICE_UNAVAILABLE
    }

    private func looks(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      _ = state.withLock { $0.looking.insert(number) }
      handlers.changed()
    }

    private func begins(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      state.withLock { state in
        state.looking.insert(number)
        if state.playing.isEmpty { for media in state.feeds.keys { state.feeds[media]!.needsKey = true } }
        if state.playing.insert(number).inserted { state.ever += 1 }
      }
      handlers.needsKey()
      handlers.changed()
    }

    private func leaves(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      state.withLock { state in
        state.playing.remove(number)
        state.looking.remove(number)
      }
      handlers.changed()
    }

    private func opens(_ session: UnsafeMutableRawPointer, of client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      let identifier = String(
        cString: gst_rtsp_session_get_sessionid(session.assumingMemoryBound(to: GstRTSPSession.self)))
      state.withLock { $0.sessions[number, default: []].append(identifier) }
    }

    /// Its sessions would be kept for a minute, and with them the place that another could have.
    private func vanishes(_ client: UnsafeMutableRawPointer) {
      leaves(client)
      let number = UInt(bitPattern: client)
      let sessions = state.withLock { $0.sessions.removeValue(forKey: number) } ?? []
      guard let pool = gst_rtsp_server_get_session_pool(server) else { return }
      defer { g_object_unref(pool) }
      for identifier in sessions {
        guard let session = gst_rtsp_session_pool_find(pool, identifier) else { continue }
        gst_rtsp_session_pool_remove(pool, session)
        g_object_unref(session)
      }
    }

    private func pauses(_ client: UnsafeMutableRawPointer) {
      let number = UInt(bitPattern: client)
      _ = state.withLock { $0.playing.remove(number) }
    }

    var viewers: (now: Int, ever: UInt64, refused: UInt64) {
      state.withLock { ($0.playing.count, $0.ever, $0.refused) }
    }

    /// Main thread, now and then: sessions whose viewers have vanished without a word.
    func tidy() {
      guard let pool = gst_rtsp_server_get_session_pool(server) else { return }
      gst_rtsp_session_pool_cleanup(pool)
      g_object_unref(pool)
    }

    // MARK: media

    /// Whether frames are needed: somebody is being told what there is to see, or sees it.
    var isWatched: Bool {
      state.withLock { state in !state.looking.isEmpty || state.feeds.values.contains { !$0.isPrepared } }
    }

    private func prepare(_ media: UnsafeMutableRawPointer) {
      let element = gst_rtsp_media_get_element(media.assumingMemoryBound(to: GstRTSPMedia.self))!
      defer { gst_object_unref(element) }
      let bin = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBin.self)
      guard let source = gst_bin_get_by_name_recurse_up(bin, "feed") else { return }
      let feed = Feed(source: UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self))
      let number = UInt(bitPattern: media)
      state.withLock { $0.feeds[number] = feed }
      let prepared: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { media, context in
        RTSPServer.from(context).keep(media!)
      }
      GStreamer.connect(media, "prepared", unsafeBitCast(prepared, to: GCallback.self), context)
      let unprepared: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { media, context in
        RTSPServer.from(context).forget(media!)
      }
      GStreamer.connect(media, "unprepared", unsafeBitCast(unprepared, to: GCallback.self), context)
      // One that never saw a frame goes without that signal.
      g_object_weak_ref(
        media.assumingMemoryBound(to: GObject.self),
        { context, media in RTSPServer.from(context).forget(UnsafeMutableRawPointer(media!)) }, context)
      handlers.needsKey()
      handlers.changed()
    }

    /// Counted as one more viewer, it stays when the last of them goes.
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
      if let feed {
        gst_object_unref(feed.source)
        if let caps = feed.caps { gst_caps_unref(caps) }
      }
      handlers.changed()
    }

    /// GStreamer's thread. A viewer's pipeline has a time of its own, which begins when it does.
    func push(_ frame: EncodedFrame) {
      let needsKey = state.withLock { state in
        var needsKey = false
        for (media, feed) in state.feeds where !feed.isPrepared || !state.playing.isEmpty {
          if !Self.push(frame, to: &state.feeds[media]!) { needsKey = true }
        }
        return needsKey
      }
      if needsKey { handlers.needsKey() }
    }

    /// False: it waits for a key frame.
    private static func push(_ frame: EncodedFrame, to feed: inout Feed) -> Bool {
      let began = gst_element_get_base_time(
        UnsafeMutableRawPointer(feed.source).assumingMemoryBound(to: GstElement.self))
      guard began > 0, frame.time >= UInt64(began), frame.isKey || !feed.needsKey else { return false }
      if feed.caps.map({ gst_caps_is_equal($0, frame.caps) == 0 }) ?? true {
        if let caps = feed.caps { gst_caps_unref(caps) }
        feed.caps = gst_caps_ref(frame.caps)
        gst_app_src_set_caps(feed.source, frame.caps)
      }
      guard let copy = gst_buffer_copy(frame.buffer) else { return false }
      copy.pointee.pts = GstClockTime(frame.time) - began
      copy.pointee.dts = GStreamer.noTime
      feed.needsKey = gst_app_src_push_buffer(feed.source, copy) != GST_FLOW_OK
      return true
    }
  }
#endif
