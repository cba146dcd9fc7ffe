@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Synchronization
  import Tactus
  import Video

  /// The GStreamer pipeline of camera, encoder and, when wanted, JPEG pictures. Each start of the camera has a pipeline of its own.
  ///
  ///     source ─ scale, turn ─ tee ─┬─ valve ─ encoder ─ frames
  ///                                 ├─ valve ─ JPEG ─ pictures, from the first time that they are wanted
  ///                                 └─ valve ─ square, RGB ─ the detector's, where there is one
  ///
  /// The pipeline is created, started and ended on the main thread; frames and pictures come on GStreamer's threads.
  // Safe: what those threads touch is set before they exist, or atomic, or locked.
  final class CapturePipeline: @unchecked Sendable {
    struct Handlers: Sendable {
      let frame: @Sendable (EncodedFrame) -> Void
      let picture: @Sendable ([UInt8]) -> Void
      /// Takes a square RGB picture for the detector; `nil` if there is no detector.
      let square: (@Sendable ([UInt8]) -> Void)?
      /// Takes the cause of a failure. It is called on the main thread.
      let failed: @Sendable (String) -> Void
    }

    private let pipeline: UnsafeMutablePointer<GstElement>
    private let stream: UnsafeMutablePointer<GstElement>
    private let handlers: Handlers
    private let timing: EncodeTiming
    private let settings: VideoSettings
    /// The limit of JPEG pictures. A videorate element in the branch could not be used, because its limit would also apply to the other
    /// branches, with which the rate is negotiated.
    private let pictureLimit: Mutex<FrameLimit?>
    /// The limit of pictures for the detector.
    private let squareLimit: Mutex<FrameLimit?>
    /// The limit of frames for the encoder, or `nil` while all of the camera's are encoded.
    private let frameLimit = Mutex<FrameLimit?>(nil)
    private var isEnded = false

    /// Creates the pipeline and starts it. Returns when the camera has been opened; frames come later.
    ///
    /// - Throws: an error that names the missing element or the message of the camera's driver.
    init(
      _ elements: VideoElements, _ settings: VideoSettings, timing: EncodeTiming,
      clock: UnsafeMutablePointer<GstClock>, handlers: Handlers
    ) throws(VideoFailure) {
      self.handlers = handlers
      self.timing = timing
      timing.begin()
      self.settings = settings
      pictureLimit = Mutex(FrameLimit(framesPerSecond: Int(settings.picturesPerSecond)))
      squareLimit = Mutex(FrameLimit(framesPerSecond: Int(settings.detector.picturesPerSecond)))
      var error: UnsafeMutablePointer<GError>?
      let made = gst_parse_launch_full(
        Self.description(elements, settings) + (handlers.square == nil ? "" : Self.squares(settings.detector)), nil,
        GST_PARSE_FLAG_FATAL_ERRORS, &error)
      guard let made else { throw VideoFailure(GStreamer.string(freeing: error)) }
      gst_object_ref_sink(made)
      pipeline = made
      func bin() -> UnsafeMutablePointer<GstBin> { UnsafeMutableRawPointer(made).assumingMemoryBound(to: GstBin.self) }
      guard let stream = gst_bin_get_by_name(bin(), "stream") else {
        gst_object_unref(made)
        throw VideoFailure("the pipeline has no end")
      }
      // The bin holds its own reference to the element.
      gst_object_unref(stream)
      self.stream = stream
      gst_pipeline_use_clock(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GstPipeline.self), clock)
      let context = Unmanaged.passUnretained(self).toOpaque()
      var callbacks = GstAppSinkCallbacks()
      callbacks.new_sample = { sink, context in CapturePipeline.from(context).takeFrame(sink!) }
      gst_app_sink_set_callbacks(
        UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GstAppSink.self), &callbacks, context, nil)
      if handlers.square != nil, let squares = element("squares") {
        callbacks.new_sample = { sink, context in CapturePipeline.from(context).takeSquare(sink!) }
        gst_app_sink_set_callbacks(
          UnsafeMutableRawPointer(squares).assumingMemoryBound(to: GstAppSink.self), &callbacks, context, nil)
      }
      probe("detect", "src") { _, info, context in
        let pipeline = CapturePipeline.from(context)
        return pipeline.limited(info!, by: pipeline.squareLimit)
      }
      probe("frames", "src") { _, info, context in
        let pipeline = CapturePipeline.from(context)
        return pipeline.limited(info!, by: pipeline.frameLimit)
      }
      probe("encoder", "sink") { _, info, context in CapturePipeline.from(context).enters(info!) }
      probe("encoder", "src") { _, info, context in CapturePipeline.from(context).leaves(info!) }
      if settings.drawsClock {
        probe("raw", "src") { _, info, context in CapturePipeline.from(context).drawClock(info!) }
      }
      try start()
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CapturePipeline {
      Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    private static func description(_ elements: VideoElements, _ settings: VideoSettings) -> String {
      let turned = settings.rotation % 180 != 0
      let (width, height) = turned ? (settings.height, settings.width) : (settings.width, settings.height)
      let turn = ["", "90r", "180", "90l"][Int(settings.rotation / 90)]
      let rotation =
        turn.isEmpty
        ? ""
        : " ! video/x-raw,width=\(settings.width),height=\(settings.height),pixel-aspect-ratio=1/1"
          + " ! videoflip video-direction=\(turn)"
      return """
        \(elements.source) ! videoconvert ! videoscale ! videorate drop-only=true\(rotation) \
        ! capsfilter name=raw caps="video/x-raw,format=I420,width=\(width),height=\(height),\
        framerate=[1/1,\(settings.framesPerSecond)/1],pixel-aspect-ratio=1/1" ! tee name=t \
        t. ! \(queue) ! valve name=frames drop=true ! \(elements.encoder) ! h264parse \
        ! video/x-h264,stream-format=avc,alignment=au \
        ! appsink name=stream sync=false async=false max-buffers=30 drop=true
        """
    }

    private static let queue = "queue max-size-buffers=2 max-size-bytes=0 max-size-time=0 leaky=downstream"

    private static var pictures: String {
      """
      \(queue) ! valve name=pictures drop=true \
      ! jpegenc quality=80 ! appsink name=jpeg sync=false async=false max-buffers=2 drop=true
      """
    }

    /// Returns the branch that delivers the whole picture as a square, with bars on two sides.
    private static func squares(_ detector: VideoDetector) -> String {
      """
       t. ! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream ! valve name=detect drop=true \
      ! videoscale add-borders=true ! videoconvert \
      ! video/x-raw,format=RGB,width=\(detector.side),height=\(detector.side),pixel-aspect-ratio=1/1 \
      ! appsink name=squares sync=false async=false max-buffers=1 drop=true
      """
    }

    private func element(_ name: String) -> UnsafeMutablePointer<GstElement>? {
      let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
      guard let found = gst_bin_get_by_name(bin, name) else { return nil }
      gst_object_unref(found)
      return found
    }

    private func probe(_ name: String, _ pad: String, _ callback: @escaping GstPadProbeCallback) {
      guard let element = element(name), let pad = gst_element_get_static_pad(element, pad) else { return }
      gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER, callback, Unmanaged.passUnretained(self).toOpaque(), nil)
      gst_object_unref(pad)
    }

    // MARK: beginning and end

    private func start() throws(VideoFailure) {
      let bus = gst_element_get_bus(pipeline)!
      defer { gst_object_unref(bus) }
      guard gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE else {
        let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)
        let cause = message.map { GStreamer.failure($0) } ?? "the pipeline does not start"
        if let message { gst_message_unref(message) }
        end()
        throw VideoFailure(cause)
      }
      gst_bus_add_watch(
        bus, { _, message, context in CapturePipeline.from(context).heard(message!) },
        Unmanaged.passUnretained(self).toOpaque())
    }

    private func heard(_ message: UnsafeMutablePointer<GstMessage>) -> gboolean {
      switch message.pointee.type {
      case GST_MESSAGE_ERROR: handlers.failed(GStreamer.failure(message))
      case GST_MESSAGE_EOS: handlers.failed("the camera's stream has ended")
      default: break
      }
      return 1
    }

    /// Closes the camera, which takes as long as its driver needs. No handler is called afterwards.
    func end() {
      guard !isEnded else { return }
      isEnded = true
      if let bus = gst_element_get_bus(pipeline) {
        gst_bus_remove_watch(bus)
        gst_object_unref(bus)
      }
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }

    deinit { precondition(isEnded, "a pipeline is ended before it is forgotten") }

    // MARK: while it runs

    /// Opens or closes the branches, so that nothing unwanted is encoded. The detector gets pictures while there is a viewer, or always
    /// if so configured. Main thread only.
    func want(frames: Bool, pictures: Bool) {
      if pictures, element("pictures") == nil { addPictures() }
      let detects = frames || pictures || settings.detector.isAlwaysOn
      for (name, isWanted) in [("frames", frames), ("pictures", pictures), ("detect", detects)] {
        if let valve = element(name) { GStreamer.set(valve, "drop", isWanted ? "false" : "true") }
      }
    }

    /// Sets how many bits and frames a second the encoder makes of the camera's pictures. Main thread only.
    func encode(at rate: StreamRate) {
      let isSlower = rate.framesPerSecond < settings.framesPerSecond
      frameLimit.withLock { limit in
        limit = isSlower ? FrameLimit(framesPerSecond: Int(rate.framesPerSecond)) : nil
      }
      guard let encoder = element("encoder") else { return }
      // Encoders spread the bits over the frames of the camera's rate, whichever come.
      let share = UInt64(settings.framesPerSecond) * UInt64(rate.bitsPerSecond) / UInt64(rate.framesPerSecond)
      encoder_set_rate(encoder, guint(clamping: share))
    }

    /// Adds the branch of JPEG pictures. Viewers of the stream alone cause no JPEG encoding.
    private func addPictures() {
      var error: UnsafeMutablePointer<GError>?
      guard
        let made = gst_parse_bin_from_description_full(
          Self.pictures, 1, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
      else { return handlers.failed(GStreamer.string(freeing: error)) }
      gst_bin_add(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self), made)
      var callbacks = GstAppSinkCallbacks()
      callbacks.new_sample = { sink, context in CapturePipeline.from(context).takePicture(sink!) }
      gst_app_sink_set_callbacks(
        UnsafeMutableRawPointer(element("jpeg")!).assumingMemoryBound(to: GstAppSink.self), &callbacks,
        Unmanaged.passUnretained(self).toOpaque(), nil)
      probe("pictures", "src") { _, info, context in
        let pipeline = CapturePipeline.from(context)
        return pipeline.limited(info!, by: pipeline.pictureLimit)
      }
      guard gst_element_sync_state_with_parent(made) != 0, gst_element_link(element("t"), made) != 0 else {
        return handlers.failed("pictures cannot be added to the camera's pipeline")
      }
    }

    /// Makes the next encoded frame a key frame, which can be decoded without earlier frames. Any thread may call this.
    func forceKeyFrame() {
      guard
        let structure = gst_structure_from_string(
          "GstForceKeyUnit, all-headers=(boolean)true, count=(uint)1;", nil)
      else { return }
      gst_element_send_event(stream, gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, structure))
    }

    private func takeFrame(_ sink: UnsafeMutablePointer<GstAppSink>) -> GstFlowReturn {
      guard let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
      defer { gst_sample_unref(sample) }
      guard let buffer = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample) else {
        return GST_FLOW_OK
      }
      let isKey = buffer.pointee.mini_object.flags & GST_BUFFER_FLAG_DELTA_UNIT.rawValue == 0
      // x264enc's stamps begin at a thousand hours; what counts is where they stand in their segment.
      let running = gst_segment_to_running_time(
        gst_sample_get_segment(sample), GST_FORMAT_TIME, guint64(buffer.pointee.pts))
      let time = running == GStreamer.noTime ? 0 : UInt64(running)
      handlers.frame(
        EncodedFrame(
          buffer: buffer, caps: caps, isKey: isKey, time: time &+ UInt64(gst_element_get_base_time(pipeline))))
      return GST_FLOW_OK
    }

    private func takePicture(_ sink: UnsafeMutablePointer<GstAppSink>) -> GstFlowReturn {
      guard let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
      defer { gst_sample_unref(sample) }
      if let buffer = gst_sample_get_buffer(sample) { handlers.picture(EncodedFrame.bytes(of: buffer)) }
      return GST_FLOW_OK
    }

    private func takeSquare(_ sink: UnsafeMutablePointer<GstAppSink>) -> GstFlowReturn {
      guard let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
      defer { gst_sample_unref(sample) }
      if let buffer = gst_sample_get_buffer(sample) { handlers.square?(EncodedFrame.bytes(of: buffer)) }
      return GST_FLOW_OK
    }

    private func limited(
      _ info: UnsafeMutablePointer<GstPadProbeInfo>, by limit: borrowing Mutex<FrameLimit?>
    ) -> GstPadProbeReturn {
      guard let buffer = gst_pad_probe_info_get_buffer(info) else { return GST_PAD_PROBE_OK }
      let time = UInt64(buffer.pointee.pts)
      return limit.withLock { $0?.passes(at: time) ?? true } ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }

    private func enters(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn {
      if let buffer = gst_pad_probe_info_get_buffer(info) { timing.enters(UInt64(buffer.pointee.pts)) }
      return GST_PAD_PROBE_OK
    }

    private func leaves(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn {
      if let buffer = gst_pad_probe_info_get_buffer(info) { timing.leaves(UInt64(buffer.pointee.pts)) }
      return GST_PAD_PROBE_OK
    }

    /// Draws the clock into a picture; if the picture's buffer is shared, into a copy.
    private func drawClock(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn {
      var map = GstMapInfo()
      guard let shared = gst_pad_probe_info_get_buffer(info) else { return GST_PAD_PROBE_OK }
      let own = gst_mini_object_make_writable(
        UnsafeMutableRawPointer(shared).assumingMemoryBound(to: GstMiniObject.self))!
      info.pointee.data = UnsafeMutableRawPointer(own)
      let buffer = UnsafeMutableRawPointer(own).assumingMemoryBound(to: GstBuffer.self)
      guard
        gst_buffer_map(buffer, &map, GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0
      else { return GST_PAD_PROBE_OK }
      defer { gst_buffer_unmap(buffer, &map) }
      let turned = settings.rotation % 180 != 0
      let (width, height) = turned ? (settings.height, settings.width) : (settings.width, settings.height)
      DrawnClock.draw(
        UInt32(truncatingIfNeeded: MonotonicClock.now.nanoseconds / 1_000_000),
        into: UnsafeMutableRawBufferPointer(start: map.data, count: Int(clamping: map.size)),
        stride: (Int(width) + 3) & ~3,
        width: Int(width), height: Int(height))
      return GST_PAD_PROBE_OK
    }
  }
#endif
