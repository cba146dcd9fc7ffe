@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Video

  /// The GStreamer elements for source and encoder: the configured ones, or the first available ones.
  struct VideoElements {
    /// The source's elements in the notation of `gst-launch-1.0`.
    var source: String
    var sourceReason: String
    var encoder: String
    var encoderReason: String
    /// Whether the source is a camera rather than the test picture that replaces a missing one.
    var isCamera: Bool

    /// Chooses the elements for these settings.
    init(_ settings: VideoSettings) throws(VideoFailure) {
      (source, sourceReason, isCamera) = try Self.source(settings)
      (encoder, encoderReason) = try Self.encoder(settings)
    }

    var choice: VideoChoice {
      VideoChoice(
        source: source, sourceReason: sourceReason, encoder: String(encoder.prefix { $0 != " " }),
        encoderReason: encoderReason)
    }

    // MARK: source

    private static func source(_ settings: VideoSettings) throws(VideoFailure) -> (String, String, Bool) {
      switch settings.source {
      case .test: return (test(settings), "configured", false)
      case .libcamera:
        let cameras = CameraList.found(wanted: wanted(settings)).filter { $0.camera.kind == "libcamera" }
        let found = settings.device.isEmpty ? cameras.first : cameras.first { $0.camera.device == settings.device }
        return (try libcamera(settings, named: settings.device, found?.size), "configured", true)
      case .v4l2:
        return (try v4l2(settings, settings.device.isEmpty ? "/dev/video0" : settings.device), "configured", true)
      case .pipeline: return (settings.pipeline, "configured", true)
      case .automatic: return try automatic(settings)
      }
    }

    private static func automatic(_ settings: VideoSettings) throws(VideoFailure) -> (String, String, Bool) {
      let cameras = CameraList.found(wanted: wanted(settings))
      let named = settings.device.isEmpty ? nil : cameras.first { $0.camera.device == settings.device }
      // A CSI camera's own V4L2 device gives what no encoder takes: libcamera is asked first.
      guard let found = named ?? cameras.first(where: { $0.camera.kind == "libcamera" }) ?? cameras.first else {
        let sought = settings.device.isEmpty ? "no camera" : "no camera \(settings.device), nor another"
        return (test(settings), "\(sought) was found: a test picture", false)
      }
      let camera = found.camera
      let source =
        camera.kind == "libcamera"
        ? try libcamera(settings, named: camera.device, found.size) : try v4l2(settings, camera.device)
      let reason =
        named != nil
        ? "configured" : "the first of \(cameras.count) found\(camera.kind == "libcamera" ? " by libcamera" : "")"
      return (source, "\(reason): \(camera.name)", true)
    }

    private static func wanted(_ settings: VideoSettings) -> PictureSize {
      PictureSize(Int(settings.width), Int(settings.height))
    }

    private static func test(_ settings: VideoSettings) -> String {
      "videotestsrc is-live=true pattern=ball background-color=0xff204060 ! \(mode("video/x-raw,format=I420", settings))"
    }

    /// Returns the elements for a libcamera camera. They use a size that the camera has and scale from there, because libcamerasrc
    /// delivers no picture in any other. The frame rate is only a preference: libcamerasrc rounds it, and if the rounded rate were
    /// refused, no frame would come.
    ///
    /// - Parameter name: libcamera's name of the camera; if empty, the first camera.
    private static func libcamera(
      _ settings: VideoSettings, named name: String, _ size: PictureSize?
    ) throws(VideoFailure) -> String {
      guard GStreamer.has("libcamerasrc") else {
        throw VideoFailure("libcamerasrc is not there: apt install gstreamer1.0-libcamera")
      }
      let camera = name.isEmpty || name.hasPrefix("/dev/") ? "" : " camera-name=\(quoted(name))"
      let size = size ?? wanted(settings)
      let raw = "video/x-raw,width=\(size.width),height=\(size.height)"
      return "libcamerasrc\(camera) ! capsfilter caps=\"\(raw),framerate=\(settings.framesPerSecond)/1;\(raw)\""
    }

    /// Returns the elements for a V4L2 camera: in the requested mode, raw or as JPEG pictures, or otherwise in any available mode, which
    /// is then scaled.
    private static func v4l2(_ settings: VideoSettings, _ device: String) throws(VideoFailure) -> String {
      guard GStreamer.has("v4l2src") else {
        throw VideoFailure("v4l2src is not there: apt install gstreamer1.0-plugins-good")
      }
      let modes = [
        mode("video/x-raw", settings), mode("image/jpeg", settings), "video/x-raw", "image/jpeg",
      ]
      return "v4l2src device=\(quoted(device)) ! capsfilter caps=\"\(modes.joined(separator: ";"))\" ! decodebin"
    }

    private static func mode(_ type: String, _ settings: VideoSettings) -> String {
      "\(type),width=\(settings.width),height=\(settings.height),framerate=\(settings.framesPerSecond)/1"
    }

    // MARK: encoder

    private static func encoder(_ settings: VideoSettings) throws(VideoFailure) -> (String, String) {
      let known: [VideoEncoder] = [.v4l2h264enc, .x264enc, .openh264enc]
      guard settings.encoder == .automatic else {
        let name = "\(settings.encoder)"
        guard GStreamer.has(name) else { throw VideoFailure("\(name) is not there\(advice(settings.encoder))") }
        return (description(settings.encoder, settings), "configured")
      }
      guard let first = known.first(where: { GStreamer.has("\($0)") }) else {
        throw VideoFailure("no H.264 encoder is there: apt install gstreamer1.0-plugins-ugly (x264enc)")
      }
      let missing = known.prefix { $0 != first }.map { "\($0)" }
      return (
        description(first, settings),
        missing.isEmpty ? "the best there is: in hardware" : "there is no \(missing.joined(separator: ", no "))"
      )
    }

    private static func advice(_ encoder: VideoEncoder) -> String {
      switch encoder {
      case .x264enc: ": apt install gstreamer1.0-plugins-ugly"
      case .openh264enc: ": apt install gstreamer1.0-plugins-bad"
      case .v4l2h264enc: ": this machine has no H.264 encoder in hardware that the kernel offers"
      case .automatic: ""
      }
    }

    /// Returns the encoder's elements. There are no B frames and no look-ahead, so that each frame comes out before the next goes in;
    /// every browser can decode the stream. One thread and one slice a frame are used, because ffmpeg loses slices of x264's sliced
    /// threads that come in one RTP packet, and the other cores stay free. A key frame of x264enc has the bits of a quarter of a second: a
    /// longer one would hold up, or flood, the link of a viewer.
    private static func description(_ encoder: VideoEncoder, _ settings: VideoSettings) -> String {
      let interval = settings.keyFrameInterval
      return switch encoder {
      case .v4l2h264enc:
        "v4l2h264enc name=encoder extra-controls=\"controls,video_bitrate=\(settings.bitsPerSecond),"
          + "h264_i_frame_period=\(interval),repeat_sequence_header=1\" ! video/x-h264,level=(string)4"
      case .openh264enc:
        "openh264enc name=encoder bitrate=\(settings.bitsPerSecond) gop-size=\(interval) complexity=low"
          + " rate-control=bitrate"
      case .x264enc, .automatic:
        "x264enc name=encoder tune=zerolatency speed-preset=ultrafast bitrate=\(max(1, settings.bitsPerSecond / 1000))"
          + " key-int-max=\(interval) vbv-buf-capacity=250 bframes=0 threads=1 sliced-threads=false ! video/x-h264,profile=constrained-baseline"
      }
    }

    private static func quoted(_ text: String) -> String {
      "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
  }
#endif
