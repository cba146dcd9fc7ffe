#if Video
  import CGStreamer
  import Synchronization
  import Tactus
  import Video

  /// The viewers by WebRTC, by the numbers that the daemon has given them. Opened, ended and tidied on the main thread; frames come on
  /// GStreamer's.
  final class WebRTCSessions: Sendable {
    struct Handlers: Sendable {
      /// Sends a report to the daemon. It is called on any thread.
      let report: @Sendable (VideoReport) -> Void
      /// The function that is called on any thread when a session has changed, so that `tidy` must be called soon.
      let changed: @Sendable () -> Void
      /// The function that is called on any thread when a viewer needs a key frame.
      let needsKey: @Sendable () -> Void
    }

    private let sessions = Mutex<[UInt64: WebRTCSession]>([:])
    private let handlers: Handlers

    init(_ handlers: Handlers) { self.handlers = handlers }

    var isEmpty: Bool { sessions.withLock(\.isEmpty) }

    /// The receivers of all viewers, with their reports.
    var receivers: [RTPReceiver] {
      sessions.withLock { $0 }.flatMap { number, session in session.receivers(number) }
    }

    /// Tells the viewers' sessions the stream's bit rate.
    func encoded(at rate: UInt32) {
      for session in sessions.withLock({ $0 }).values { session.encoded(at: rate) }
    }

    /// Begins a session, whose answer or refusal is reported.
    func open(
      _ number: UInt64, _ offer: WebRTCOffer, _ settings: VideoSettings, clock: UnsafeMutablePointer<GstClock>
    ) {
      if let missing = WebRTCSession.missing {
        return handlers.report(.ended(session: number, WebRTCEnd(.unavailable, missing)))
      }
      let handlers = handlers
      let ofOne = WebRTCSession.Handlers(
        answered: { [unowned self] result in
          switch result {
          case .success(let text): handlers.report(.answer(session: number, text))
          case .failure(let failure):
            close(number)
            handlers.report(.ended(session: number, WebRTCEnd(.refused, failure.description)))
          }
        }, changed: handlers.changed, needsKey: handlers.needsKey)
      do throws(VideoFailure) {
        let session = try WebRTCSession(offer, settings, clock: clock, handlers: ofOne)
        let before = sessions.withLock { $0.updateValue(session, forKey: number) }
        before?.close()
        session.start(offer)
      } catch {
        handlers.report(.ended(session: number, WebRTCEnd(.refused, error.description)))
      }
    }

    /// Ends a session that the daemon no longer wants.
    func close(_ number: UInt64) { sessions.withLock { $0.removeValue(forKey: number) }?.close() }

    /// Ends the sessions whose viewers have left or are no longer heard. The function is to be called often.
    func tidy() {
      let now = MonotonicClock.now
      let over = sessions.withLock { sessions in
        let over = sessions.compactMap { number, session in session.end(at: now).map { (number, session, $0) } }
        for (number, _, _) in over { sessions[number] = nil }
        return over
      }
      for (number, session, reason) in over {
        session.close()
        handlers.report(.ended(session: number, WebRTCEnd(.over, reason)))
      }
    }

    /// Pushes a frame to the viewers, on GStreamer's thread.
    func push(_ frame: EncodedFrame) {
      let needsKey = sessions.withLock { sessions in
        sessions.values.reduce(false) { !$1.push(frame) || $0 }
      }
      if needsKey { handlers.needsKey() }
    }
  }
#endif
