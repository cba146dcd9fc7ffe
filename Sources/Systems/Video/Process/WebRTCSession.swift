#if Video
  import CGStreamer
  import Dispatch
  import Peers
  import Synchronization
  import Tactus
  import Video

  /// One viewer by WebRTC: a payloader, the encryption and the datagrams of its own, fed with the frames of the shared encoder.
  ///
  /// Candidates are the configured address alone, over UDP; no server for STUN or TURN is asked, and no candidate of the viewer is
  /// contacted: the viewer's checks come here. Waiting for GStreamer is done on a queue of the session's own.
  // Safe: what other threads touch is atomic or locked.
  final class WebRTCSession: @unchecked Sendable {
    struct Handlers: Sendable {
      /// Takes the answer to the offer, or the reason why the offer cannot be answered. It is called on any thread.
      let answered: @Sendable (Result<String, VideoFailure>) -> Void
      /// The function that is called on any thread when the connection's state has changed.
      let changed: @Sendable () -> Void
      /// The function that is called on any thread when the viewer needs a key frame.
      let needsKey: @Sendable () -> Void
    }

    /// The longest time from the answer to the connection, and the longest silence of a connected viewer. A viewer
    /// sends several reports within this time.
    static let patience = Nanoseconds.seconds(10)
    /// The longest time from the offer to the answer, which may take long on a busy computer.
    static let ownPatience = Nanoseconds.seconds(60)

    private let pipeline: UnsafeMutablePointer<GstElement>
    private let bin: UnsafeMutablePointer<GstElement>
    private let handlers: Handlers
    private let feed: Mutex<FrameFeed?>
    private let queue = DispatchQueue(label: "video.webrtc")
    private let began = MonotonicClock.now
    /// The instant at which the offer was answered, in nanoseconds; 0 before.
    private let answered = Atomic<Int64>(0)
    /// The instant at which a datagram with the viewer's reports came last, in nanoseconds; 0 before the first.
    private let lastHeard = Atomic<Int64>(0)
    private let isConnected = Atomic(false)
    private let isOver = Atomic(false)
    private let retransmissions = Mutex(RetransmissionBudget())
    /// The stream's bit rate, in bits a second.
    private let bitsPerSecond: Atomic<UInt32>

    /// The packages that WebRTC lacks on this computer, or `nil` if it has all of them.
    static var missing: String? {
      let packages = [
        "webrtcbin": "gstreamer1.0-plugins-bad", "dtlssrtpenc": "gstreamer1.0-plugins-bad",
        "srtpenc": "gstreamer1.0-plugins-bad", "nicesrc": "gstreamer1.0-nice",
      ]
      let missing = packages.filter { !GStreamer.has($0.key) }
      guard !missing.isEmpty else { return nil }
      return "\(missing.keys.sorted().joined(separator: ", ")) is not there: apt install "
        + Set(missing.values).sorted().joined(separator: " ")
    }

    /// Creates the pipeline, which does nothing before `start`.
    init(
      _ offer: WebRTCOffer, _ settings: VideoSettings, clock: UnsafeMutablePointer<GstClock>, handlers: Handlers
    ) throws(VideoFailure) {
      self.handlers = handlers
      bitsPerSecond = Atomic(settings.bitsPerSecond)
      var error: UnsafeMutablePointer<GError>?
      // The SSRC is chosen here, because webrtcbin otherwise announces zero, and a browser then shows no picture.
      let source = UInt32.random(in: 1..<(.max))
      let made = gst_parse_launch_full(
        """
        \(FrameFeed.description) ! rtph264pay name=pay pt=\(offer.payloadType) ssrc=\(source) config-interval=-1 \
        aggregate-mode=zero-latency mtu=1200 ! application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,\
        payload=\(offer.payloadType),ssrc=(uint)\(source) \
        ! webrtcbin name=session bundle-policy=max-bundle latency=0
        """, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
      guard let made else { throw VideoFailure(GStreamer.string(freeing: error)) }
      gst_object_ref_sink(made)
      pipeline = made
      let whole = UnsafeMutableRawPointer(made).assumingMemoryBound(to: GstBin.self)
      // The pipeline holds its own reference to the bin.
      let bin: UnsafeMutablePointer<GstElement> = gst_bin_get_by_name(whole, "session")
      gst_object_unref(bin)
      self.bin = bin
      gst_pipeline_use_clock(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GstPipeline.self), clock)
      webrtc_limit_candidates(bin)
      let addresses = LocalAddresses.reachable(at: settings.bindAddress)
      guard !addresses.filter({ webrtc_add_address(bin, $0) != 0 }).isEmpty else {
        gst_object_unref(made)
        throw VideoFailure("this computer has no address for \(settings.bindAddress)")
      }
      feed = Mutex(FrameFeed(in: made))
      observe()
    }

    // MARK: negotiation, on the session's queue

    /// Begins to answer the offer.
    func start(_ offer: WebRTCOffer) { queue.async { self.answer(offer) } }

    private func answer(_ offer: WebRTCOffer) {
      webrtc_send_only(bin)
      guard gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE else {
        return handlers.answered(.failure(VideoFailure("the pipeline of the session does not start")))
      }
      if let wrong = webrtc_take_offer(bin, offer.text) {
        return handlers.answered(.failure(VideoFailure(GStreamer.string(freeing: wrong))))
      }
      let end = MonotonicClock.now + .seconds(5)
      while webrtc_has_gathered(bin) == 0, MonotonicClock.now < end {
        _ = gathered.wait(timeout: .now() + .milliseconds(100))
      }
      let text = GStreamer.string(freeing: webrtc_answer(bin))
      guard text.contains("a=candidate:") else {
        return handlers.answered(.failure(VideoFailure("no address of this computer takes datagrams")))
      }
      answered.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
      handlers.answered(.success(text))
    }

    private let gathered = DispatchSemaphore(value: 0)

    // MARK: what GStreamer's threads tell

    /// A context for GStreamer that keeps the session alive until GStreamer releases it with the pipeline. Each read
    /// makes a new one.
    private var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    private static func from(_ context: UnsafeMutableRawPointer?) -> WebRTCSession {
      Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    private typealias Notified =
      @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void

    private func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback) {
      g_signal_connect_data(
        object, signal, handler, context, { context, _ in Unmanaged<WebRTCSession>.fromOpaque(context!).release() },
        GConnectFlags(rawValue: 0))
    }

    private func probe(
      _ pad: UnsafeMutablePointer<GstPad>, _ type: GstPadProbeType, _ probe: @escaping GstPadProbeCallback
    ) {
      gst_pad_add_probe(pad, type, probe, context) { Unmanaged<WebRTCSession>.fromOpaque($0!).release() }
    }

    private func observe() {
      let gathers: Notified = { _, _, context in WebRTCSession.from(context).gathered.signal() }
      connect(bin, "notify::ice-gathering-state", unsafeBitCast(gathers, to: GCallback.self))
      let changes: Notified = { _, _, context in WebRTCSession.from(context).changes() }
      connect(bin, "notify::connection-state", unsafeBitCast(changes, to: GCallback.self))
      let adds:
        @convention(c) (
          UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<GstElement>?,
          UnsafeMutableRawPointer?
        ) -> Void = { _, _, element, context in WebRTCSession.from(context).adds(element!) }
      connect(bin, "deep-element-added", unsafeBitCast(adds, to: GCallback.self))
      let whole = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
      guard let payloader = gst_bin_get_by_name(whole, "pay") else { return }
      defer { gst_object_unref(payloader) }
      guard let pad = gst_element_get_static_pad(payloader, "src") else { return }
      defer { gst_object_unref(pad) }
      probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) { _, info, context in
        if let event = gst_pad_probe_info_get_event(info), let structure = gst_event_get_structure(event),
          gst_structure_has_name(structure, "GstForceKeyUnit") != 0
        {
          WebRTCSession.from(context).handlers.needsKey()
        }
        return GST_PAD_PROBE_OK
      }
    }

    private func changes() {
      let state = webrtc_state(bin)
      if state == GST_WEBRTC_PEER_CONNECTION_STATE_CONNECTED, !isConnected.exchange(true, ordering: .relaxed) {
        lastHeard.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
        handlers.needsKey()
      }
      if [GST_WEBRTC_PEER_CONNECTION_STATE_FAILED, GST_WEBRTC_PEER_CONNECTION_STATE_CLOSED].contains(state) {
        isOver.store(true, ordering: .relaxed)
      }
      handlers.changed()
    }

    /// Observes two elements: the one that receives the viewer's datagrams, without libnice's own connectivity checks,
    /// and the one that receives the viewer's requests for lost packets.
    private func adds(_ element: UnsafeMutablePointer<GstElement>) {
      guard let factory = gst_element_get_factory(element) else { return }
      let name = GStreamer.string(
        freeing: gst_object_get_name(UnsafeMutableRawPointer(factory).assumingMemoryBound(to: GstObject.self)))
      guard ["nicesrc", "rtprtxsend"].contains(name), let pad = gst_element_get_static_pad(element, "src") else {
        return
      }
      defer { gst_object_unref(pad) }
      if name == "nicesrc" {
        let type = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        probe(pad, GstPadProbeType(rawValue: type)) { _, _, context in
          WebRTCSession.from(context).lastHeard.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
          return GST_PAD_PROBE_OK
        }
      } else {
        probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) { _, info, context in
          guard let event = gst_pad_probe_info_get_event(info), let structure = gst_event_get_structure(event),
            gst_structure_has_name(structure, "GstRTPRetransmissionRequest") != 0
          else { return GST_PAD_PROBE_OK }
          return WebRTCSession.from(context).sendsAgain ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
        }
      }
    }

    private var sendsAgain: Bool {
      retransmissions.withLock {
        $0.allows(at: MonotonicClock.now, bitsPerSecond: bitsPerSecond.load(ordering: .relaxed))
      }
    }

    /// Sets the stream's bit rate. The function may be called from any thread.
    func encoded(at rate: UInt32) { bitsPerSecond.store(rate, ordering: .relaxed) }

    // MARK: frames and the end

    /// Pushes a frame once the viewer is connected; earlier ones would wait and then come late. Returns whether the frame was used; false
    /// means that the viewer waits for a key frame.
    func push(_ frame: EncodedFrame) -> Bool {
      guard isConnected.load(ordering: .relaxed) else { return true }
      return feed.withLock { $0?.push(frame) ?? true }
    }

    /// Returns the viewer's receivers, with their reports of the packets that reached the viewer.
    func receivers(_ number: UInt64) -> [RTPReceiver] {
      guard isConnected.load(ordering: .relaxed), let session = webrtc_session(bin) else { return [] }
      defer { g_object_unref(session) }
      return RTPReceiver.all(of: session, named: number)
    }

    /// Returns the reason why the session is over, or `nil` if it goes on.
    func end(at now: TickInstant) -> String? {
      if isOver.load(ordering: .relaxed) { return "the viewer has left, or its connection has failed" }
      let heard = lastHeard.load(ordering: .relaxed)
      let answered = answered.load(ordering: .relaxed)
      if answered == 0 { return now - began >= Self.ownPatience ? "no answer was made within 60 s" : nil }
      if heard == 0 {
        return now.nanoseconds - answered >= Self.patience.count ? "the viewer has not connected within 10 s" : nil
      }
      return now.nanoseconds - heard >= Self.patience.count ? "nothing has come from the viewer for 10 s" : nil
    }

    /// Ends the session, soon and on its own queue. No frame may be pushed afterwards, and handlers may still be called for a moment.
    func close() {
      queue.async { [self] in
        feed.withLock { feed in
          feed?.release()
          feed = nil
        }
        gst_element_set_state(pipeline, GST_STATE_NULL)
        gst_object_unref(pipeline)
      }
    }
  }
#endif
