import TactusDaemon

/// Keys of the camera and of how its picture is shown.
extension ConfigTable {
  static let everyVideo: [ConfigKey] = videoPort + camera + video

  private static let videoPort: [ConfigKey] = [
    ConfigKey(
      "network.rtsp_port", .integer(0...65535), .integer(8554),
      "TCP port of the video stream, rtsp://HOST:PORT/stream; 0 takes any free one.")
  ]

  private static let camera: [ConfigKey] = [
    ConfigKey(
      "camera.source", .choice(["auto", "libcamera", "v4l2", "test", "pipeline"]), .text("auto"),
      "Where pictures come from: a libcamera camera, a V4L2 device, a test picture, GStreamer elements of camera.pipeline, "
        + "or the first of the first three that this machine has (auto). `tactus doctor` lists cameras."),
    ConfigKey(
      "camera.device", .text, nil,
      "The camera: /dev/video0, or libcamera's name of it. Unless given, the first that is found; not found, auto takes "
        + "another."),
    ConfigKey(
      "camera.pipeline", .text, nil,
      "Of source pipeline: GStreamer elements that end in raw pictures, as gst-launch-1.0 takes them."),
    ConfigKey(
      "camera.resolution", .integers(count: 2, 16...8192), .integers([640, 480]),
      "Width and height in pixels, even, before the picture is rotated; a camera's own are scaled."),
    ConfigKey("camera.framerate", .integer(1...240), .integer(30), "Most frames per second."),
    ConfigKey("camera.format", .choice(["h264"]), .text("h264"), "Encoding of the stream."),
    ConfigKey(
      "camera.encoder", .choice(["auto", "v4l2h264enc", "x264enc", "openh264enc"]), .text("auto"),
      "The encoder: in hardware (v4l2h264enc), one of two in software, or the first of them that this machine has (auto)."
    ),
    ConfigKey("camera.bitrate", .integer(10_000...100_000_000), .integer(2_000_000), "Bits per second."),
    ConfigKey(
      "camera.key_frame_s", .number(0.1...60), .number(1),
      "Seconds from one key frame to the next; a viewer who joins gets one of its own."),
    ConfigKey("camera.rotation", .choice(["0", "90", "180", "270"]), .text("0"), "Degrees clockwise."),
  ]

  private static let video: [ConfigKey] = [
    ConfigKey(
      "video.bind_address", .address, nil, "Address of the RTSP port. Unless given: network.bind_address."),
    ConfigKey(
      "video.user", .text, nil,
      "User of the RTSP stream, with video.password; unless given, whoever reaches the port may look."),
    ConfigKey(
      "video.password", .text, nil,
      "Password of that user, sent as a digest: ${NAME} takes it from the environment."),
    ConfigKey("video.password_file", .text, nil, "File that holds the password, in place of video.password."),
    ConfigKey(
      "video.viewers", .integer(1...100), .integer(16),
      "Viewers at a time, of RTSP and, counted apart, of the service's streams; one more is refused."),
    ConfigKey(
      "video.mjpeg_rate_hz", .integer(1...30), .integer(10), "Most JPEG pictures per second of stream.mjpeg, in hertz."),
    ConfigKey(
      "video.clock", .boolean, .boolean(false),
      "Draw a clock into the picture that programs can read, to measure how long a picture is under way."),
    ConfigKey(
      "video.detector.model", .text, nil,
      "The detector's model, a file of yours: ONNX with the output of YOLOv8, [1, 4 + classes, candidates]. Unless this or "
        + "video.detector.command is given nothing is detected."),
    ConfigKey(
      "video.detector.command", .texts, .texts([]),
      "A detector of your own in place of tactus-detect: program and arguments; the model, where one is given, is the last of "
        + "them. Sources/Systems/Video/README.md says how it is spoken to."),
    ConfigKey(
      "video.detector.labels_file", .text, nil,
      "File with the name of one class a line, in the model's order. Unless given: their numbers."),
    ConfigKey(
      "video.detector.input_px", .integer(32...1280), .integer(640),
      "Side of the square that the detector is given, in pixels: what the model was made for, a multiple of 32."),
    ConfigKey("video.detector.rate_hz", .integer(1...30), .integer(5), "Most pictures that it is given, in hertz."),
    ConfigKey(
      "video.detector.confidence", .number(0...1), .number(0.25), "Boxes of less confidence are left out, a ratio."),
    ConfigKey(
      "video.detector.overlap", .number(0...1), .number(0.45),
      "Two boxes of one class with more of their area in common, a ratio, are the same thing."),
    ConfigKey(
      "video.detector.always", .boolean, .boolean(false),
      "Detect while nobody looks, too: the camera then always runs."),
    ConfigKey(
      "video.record_dir", .text, nil, "Folder of recordings, which must exist; unless given there are none."),
    ConfigKey(
      "video.record_limit_mb", .integer(1...1_000_000), .integer(500), "Longest recording, in megabytes."),
  ]
}
