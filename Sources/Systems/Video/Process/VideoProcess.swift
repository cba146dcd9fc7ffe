@_spi(FromOutside) import Conversions

#if Video
  import CDaemon
  import CGStreamer
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus
  import Video

  /// The video process: GStreamer's main loop, the rule for the camera, the RTSP server, and the orders of the daemon.
  ///
  /// The state belongs to the main thread, except for `passing`, which GStreamer's threads use when they deliver frames.
  // Safe: the main thread owns the state, and `passing` is locked.
  public final class VideoProcess: @unchecked Sendable {
    let passing = Mutex(PassingFrames())
    private let timing = EncodeTiming()
    private let clock: UnsafeMutablePointer<GstClock>
    private let loop: OpaquePointer
    private(set) var connection: DaemonConnection?

    private let cameraStateAtStart = VideoConfinement.cameraState
    private var settings: VideoSettings?
    private var machine = CaptureMachine()
    private var pipeline: CapturePipeline?
    private(set) var server: RTSPServer?
    private(set) var sessions: WebRTCSessions?
    private var rtspRetry: (at: TickInstant, pause: Nanoseconds)?
    private var rtspState: VideoRTSPState?
    private var rtspWatch: RTSPWatch?
    private var probe: RTSPProbe?
    private var cameraState: VideoCameraState?
    private var choice: VideoChoice?
    /// The elements of the camera, once one was found: the process then waits for this camera instead of showing a test picture. `nil`
    /// before.
    private var camera: VideoElements?
    /// Whether the drivers are being asked for cameras.
    private let isListing = Atomic(false)
    private var wantsPictures = false
    private var recorder: Recorder?
    private var detector: DetectorProcess?
    private var shared: SharedRate?
    private var lastKeyFrame: TickInstant?
    private var lastSecond = MonotonicClock.now
    private var countsBefore: (frames: UInt64, bytes: UInt64) = (0, 0)
    private var ticks = 0

    /// Runs until the daemon closes its end of `descriptor`, and does not return. The process is confined as soon as its settings are
    /// known.
    public static func run(descriptor: Int32) -> Never {
      do {
        let connection = try DaemonConnection(descriptor: descriptor)
        // The confinement precedes GStreamer, whose threads would otherwise not be confined.
        let settings = connection.firstSettings()
        if let missing = VideoConfinement.apply(settings) {
          complain("the kernel confines tactus-video only in part, without \(missing)")
        }
        // This follows the confinement, because a change of the account resets it. It ends the process with the daemon, so that no camera stays open.
        daemon_die_with_parent()
        try GStreamer.start()
        let process = VideoProcess()
        process.connection = connection
        connection.send(.hello)
        process.begin(settings)
        connection.start { process.carryOut($0, file: $1) }
        process.run()
      } catch {
        complain("\(error)")
        exit(1)
      }
      exit(0)
    }

    private init() {
      clock = gst_system_clock_obtain()
      loop = g_main_loop_new(nil, 0)
    }

    private func run() {
      g_timeout_add(
        100,
        { context in
          Unmanaged<VideoProcess>.fromOpaque(context!).takeUnretainedValue().tick()
          return 1
        }, Unmanaged.passUnretained(self).toOpaque())
      g_main_loop_run(loop)
    }

    /// Runs `work` on the main thread soon. Any thread may call this.
    private func onMain(_ work: @escaping (VideoProcess) -> Void) {
      final class Box {
        let process: VideoProcess
        let work: (VideoProcess) -> Void
        init(_ process: VideoProcess, _ work: @escaping (VideoProcess) -> Void) {
          (self.process, self.work) = (process, work)
        }
      }
      g_idle_add_full(
        G_PRIORITY_DEFAULT,
        { context in
          let box = Unmanaged<Box>.fromOpaque(context!).takeRetainedValue()
          box.work(box.process)
          return 0
        }, Unmanaged.passRetained(Box(self, work)).toOpaque(), nil)
    }

    // MARK: orders

    /// Carries out an order of the daemon.
    ///
    /// - Parameter file: the file to record into, or `nil` if none came with the order.
    private func carryOut(_ order: VideoOrder, file: Int32?) {
      switch order {
      // The settings were taken at the start and come only once.
      case .settings: break
      case .want(let fragments, let pictures):
        passing.withLock { passing in
          passing.wantsFragments = fragments
          // The new recipient gets the initialisation segment again.
          passing.configuration = []
        }
        wantsPictures = pictures
        if fragments { wantKeyFrame() }
      case .record(let path, let limit): record(file, path, limit)
      case .stopRecording: recorder?.stop()
      case .open(let session, let offer):
        if let settings { sessions?.open(session, offer, settings, clock: clock) }
      case .close(let session): sessions?.close(session)
      case .waits(let milliseconds): shared?.waits(milliseconds)
      case .listCameras:
        // The list is made on another thread, because drivers may be slow. Requests during that time get the same answer.
        guard !isListing.exchange(true, ordering: .acquiringAndReleasing) else { return }
        DispatchQueue.global().async { [self] in
          let cameras = CameraList.described()
          isListing.store(false, ordering: .releasing)
          connection?.send(.cameras(cameras))
        }
      }
      demandChanged()
    }

    private func begin(_ settings: VideoSettings) {
      self.settings = settings
      shared = SharedRate(settings)
      passing.withLock { $0.settings = settings }
      let handlers = RTSPServer.Handlers(
        changed: { [unowned self] in onMain { $0.demandChanged() } },
        needsKey: { [unowned self] in onMain { $0.wantKeyFrame() } },
        crowded: { [unowned self] in onMain { $0.server?.tidy() } },
        refusal: { [unowned self] in passing.withLock { $0.refusal } })
      server = RTSPServer(settings, clock: clock, handlers: handlers)
      sessions = WebRTCSessions(
        WebRTCSessions.Handlers(
          report: { [unowned self] in connection?.send($0) },
          changed: { [unowned self] in onMain { $0.tidySessions() } },
          needsKey: { [unowned self] in onMain { $0.wantKeyFrame() } }))
      openRTSP()
      tellCamera()
      beginDetector(settings)
      demandChanged()
    }

    private func beginDetector(_ settings: VideoSettings) {
      guard !settings.detector.command.isEmpty else { return }
      let isTurned = settings.rotation % 180 != 0
      do throws(RuntimeError) {
        let detector = try DetectorProcess(
          settings.detector, width: Int(isTurned ? settings.height : settings.width),
          height: Int(isTurned ? settings.width : settings.height)
        ) { [unowned self] detection in connection?.send(.detection(detection)) }
        detector.start()
        self.detector = detector
      } catch {
        var detection = VideoDetection(.failed)
        detection.cause = "\(error)"
        connection?.send(.detection(detection))
      }
    }

    private func openRTSP() {
      guard let server else { return }
      do throws(VideoFailure) {
        reportRTSP(VideoRTSPState(port: try server.open()))
        rtspRetry = nil
        if RTSPProbe.canAsk(settings?.bindAddress ?? "") { rtspWatch = RTSPWatch(at: MonotonicClock.now) }
      } catch {
        let pause = min((rtspRetry?.pause ?? .milliseconds(500)) * 2, .seconds(30))
        rtspRetry = (MonotonicClock.now + pause, pause)
        reportRTSP(VideoRTSPState(port: 0, cause: error.description))
      }
    }

    /// Asks the port, as any client could, whether it answers. A process whose port stays silent ends, and is started again.
    private func watchRTSP() {
      guard let settings, let port = rtspState?.port,
        let action = rtspWatch?.step(probe?.answer(), at: MonotonicClock.now)
      else { return }
      switch action {
      case .nothing: break
      case .ask: probe = RTSPProbe(address: settings.bindAddress, port: port)
      case .answersAgain: reportRTSP(VideoRTSPState(port: port))
      case .silent: reportRTSP(VideoRTSPState(port: port, cause: "RTSP does not answer"))
      case .restart:
        complain("RTSP has not answered \(RTSPWatch.limit) times in a row: tactus-video restarts")
        exit(1)
      }
      // A finished probe is not used again.
      if rtspWatch?.isAsking != true { probe = nil }
    }

    private func reportRTSP(_ state: VideoRTSPState) {
      guard state != rtspState else { return }
      rtspState = state
      connection?.send(.rtsp(state))
    }

    private func record(_ file: Int32?, _ path: String, _ limit: UInt64) {
      guard let settings, recorder?.isOver ?? true else {
        if let file { close(file) }
        return
      }
      let recorder = Recorder(file: file, path: path, limitBytes: limit, framesPerSecond: settings.framesPerSecond) {
        [unowned self] recording in
        connection?.send(.recording(recording))
        onMain { $0.demandChanged() }
      }
      self.recorder = recorder
      passing.withLock { $0.recorder = recorder }
      wantKeyFrame()
      demandChanged()
    }

    // MARK: demand

    /// Whether the frames have a viewer, by any transport.
    private var isWatched: Bool {
      server?.isWatched == true || sessions?.isEmpty == false || passing.withLock { $0.wantsFragments }
    }

    private var wantsFrames: Bool { isWatched || recorder.map { !$0.isOver } == true }

    private func demandChanged() {
      let frames = wantsFrames
      pipeline?.want(frames: frames, pictures: wantsPictures)
      let isWanted = frames || wantsPictures || detector != nil && settings?.detector.isAlwaysOn == true
      guard isWanted != machine.isWanted else { return }
      if isWanted, machine.state == .idle { passing.withLock { $0.wantedSince = MonotonicClock.now } }
      step(.wanted(isWanted))
    }

    private func wantKeyFrame() {
      passing.withLock { $0.needsKey = true }
      forceKeyFrame()
    }

    /// Forces a key frame if one is needed, at most five times a second however many viewers come, because a key frame costs as much as
    /// several other frames; once a second while a link takes less than all.
    private func forceKeyFrame() {
      let now = MonotonicClock.now
      guard let pipeline, passing.withLock({ $0.needsKey }) else { return }
      let pause = Nanoseconds.milliseconds(shared?.rate.cause == .configured ? 200 : 1000)
      if let lastKeyFrame, now - lastKeyFrame < pause { return }
      lastKeyFrame = now
      passing.withLock { $0.needsKey = false }
      pipeline.forceKeyFrame()
    }

    // MARK: the camera

    private func step(_ event: CaptureMachine.Event) {
      switch machine.step(event, at: MonotonicClock.now) {
      case .none: break
      case .start: startCamera()
      case .stop:
        pipeline?.end()
        pipeline = nil
      }
      tellCamera()
    }

    private func startCamera() {
      guard let settings else { return }
      if VideoConfinement.cameraState != cameraStateAtStart {
        complain("a camera was connected or disconnected: tactus-video restarts to get access to it")
        exit(0)
      }
      passing.withLock { passing in
        passing.statistics.starts += 1
        // An encoder begins with a key frame by itself. Requesting another now would delay the one that the first viewer needs a moment later.
        passing.needsKey = false
      }
      do throws(VideoFailure) {
        let elements: VideoElements
        if let camera { elements = camera } else { elements = try VideoElements(settings) }
        if elements.isCamera { camera = elements }
        if elements.choice != choice {
          choice = elements.choice
          connection?.send(.choice(elements.choice))
        }
        var square: (@Sendable ([UInt8]) -> Void)?
        if let detector { square = { [unowned self] in pass(square: $0, to: detector) } }
        let handlers = CapturePipeline.Handlers(
          frame: { [unowned self] in pass($0) }, picture: { [unowned self] in pass(picture: $0) },
          square: square, failed: { [unowned self] in fail($0) })
        let pipeline = try CapturePipeline(elements, settings, timing: timing, clock: clock, handlers: handlers)
        self.pipeline = pipeline
        if let shared { pipeline.encode(at: shared.rate) }
        pipeline.want(frames: wantsFrames, pictures: wantsPictures)
      } catch {
        fail(error.description)
      }
    }

    private func fail(_ cause: String) {
      // The pipeline may still be in the callback that reports its failure, where it cannot be ended, so this is done later.
      onMain { process in
        process.passing.withLock { $0.statistics.failures += 1 }
        process.step(.failed(cause))
      }
    }

    private func tellCamera() {
      let state: VideoCameraState =
        switch machine.state {
        case .idle: VideoCameraState(.idle)
        case .starting: VideoCameraState(.starting)
        case .running, .lingering: VideoCameraState(.running)
        case .waiting(_, let cause):
          VideoCameraState(
            .failed, cause: cause,
            retryMilliseconds: UInt32(clamping: machine.pauseLeft(at: MonotonicClock.now).count / 1_000_000))
        }
      passing.withLock { $0.refusal = state.phase == .failed ? state.cause : nil }
      // The remaining pause changes all the time and is reported only at its beginning.
      guard state.phase != cameraState?.phase || state.cause != cameraState?.cause else { return }
      cameraState = state
      connection?.send(.camera(state))
    }

    // MARK: time

    private func tick() {
      ticks += 1
      let hasFrames = passing.withLock { passing in
        defer { passing.hasFrames = false }
        return passing.hasFrames
      }
      step(hasFrames ? .frames : .time)
      forceKeyFrame()
      watchRTSP()
      if let rtspRetry, MonotonicClock.now >= rtspRetry.at { openRTSP() }
      if ticks % 5 == 0 {
        followLinks()
        tellStatistics()
        server?.tidy()
        tidySessions()
      }
    }

    private func followLinks() {
      let hasChanged = shared?.step(isWatched: isWatched, at: MonotonicClock.now) {
        (server?.receivers ?? []) + (sessions?.receivers ?? [])
      }
      guard let shared else { return }
      if hasChanged == true { pipeline?.encode(at: shared.rate) }
      sessions?.encoded(at: shared.rate.bitsPerSecond)
    }

    private func tidySessions() {
      sessions?.tidy()
      demandChanged()
    }

    private func tellStatistics() {
      let now = MonotonicClock.now
      let isSecond = now - lastSecond >= .milliseconds(950)
      let viewers = server?.viewers ?? (now: 0, ever: 0, refused: 0)
      let span = max(1, (now - lastSecond).count)
      let timing = isSecond ? timing.take() : nil
      let dropped = connection?.dropped ?? 0
      let (statistics, recorder) = passing.withLock { passing in
        passing.statistics.viewers = UInt32(clamping: viewers.now)
        passing.statistics.viewersEver = viewers.ever
        passing.statistics.viewersRefused = viewers.refused
        passing.statistics.fragmentsDropped = dropped
        shared?.write(to: &passing.statistics)
        if let timing {
          func rate(_ count: UInt64) -> UInt32 {
            UInt32(saturating: min(4e9, (Double(count) * 1e9 / Double(span)).rounded()))
          }
          passing.statistics.framesLastSecond = rate(passing.statistics.frames - countsBefore.frames)
          passing.statistics.bitsLastSecond = rate((passing.statistics.encodedBytes - countsBefore.bytes) * 8)
          (passing.statistics.encodeMean, passing.statistics.encodeWorst) = timing
        }
        return (passing.statistics, passing.recorder)
      }
      if isSecond {
        lastSecond = now
        countsBefore = (statistics.frames, statistics.encodedBytes)
      }
      connection?.send(.statistics(statistics))
      if let recorder, recorder.recording.phase == .running { connection?.send(.recording(recorder.recording)) }
    }
  }
#endif
