import TactusDaemon

/// The row of the dashboard.
extension Video: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states(
      "State of the video", "Each state is a row; it is drawn while the video is in it. idle: nobody looks.",
      red: ["down", "failed"]
    ) {
      Series("state")
    }
    Panel("Viewers", from: 0, width: 8) {
      Series("viewers")
      Series("refused_viewers_total", "refused", .ifAny)
    }
    Panel("Frames", from: 0, width: 8) {
      Series("frames_per_second", "frames")
      Series("key_frames_total", "key frames")
      Series("dropped_fragments_total", "dropped", .ifAny)
    }
    Panel("Bits of video", unit: "bps", from: 0, width: 8) {
      Series("encoded_bytes_total", times: 8)
    }
    Panel("Time to a picture", from: 0) {
      Series("encode_seconds", "encoded, {{value}}")
      Series("detect_seconds", "detected")
      Series("first_frame_seconds", "first frame")
    }
    Panel("Failures of video", unit: "short", from: 0) {
      Series("camera_failures_total", "camera", over: "5m")
      Series("process_ends_total", "process", over: "5m")
      Series("detector_failures_total", "detector", over: "5m")
    }
  }
}
