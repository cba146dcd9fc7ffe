import Pictures
import Service
import ServiceDocuments
import Tactus
import TactusDaemon
import Video
import VideoDocuments
import Wire

/// The camera and its viewers, sections `camera:` and `video:` of the configuration. Camera and encoder are in a separate program,
/// `tactus-video`. The system drives no actuator.
public enum Video:
  WithoutLoops, Sections, Sees, HasDocuments, ShowsEntities, Introduces, Reaches, Checks, FindsDevices, Offers
{
  public static let name = "video"
  public static let summary = "A camera, shown by RTSP and by the service."
  public static let sections = [
    ConfigSection(
      name: "camera",
      doc: "The camera, its picture and its encoder. Video runs when this section or video is present."),
    ConfigSection(
      name: "video", doc: "How the picture is shown: RTSP on network.rtsp_port, and streams of the service."),
  ]
  public static let initialState = State()
  public static var documents: SystemDocuments { SystemDocuments(name, video_documents()) }

  /// The published state of the video. The details are in the desk, which shows them in documents.
  public struct State: BitwiseCopyable, Sendable {
    /// The state of the video.
    public var word = VideoWord.down
  }
  public typealias Refusal = NoRefusal
  public typealias Notice = NoNotice
  public typealias Order = NoOrder
  public typealias LoopRules = NoSettings

  // MARK: builds without video

  /// Whether the program was built with the trait `Video`.
  public static var isBuilt: Bool {
    #if Video
      true
    #else
      false
    #endif
  }
  public static let howToBuild: String? = isBuilt ? nil : "swift build --traits Video"
  /// The sections that a file may have although the program was built without video, because the files of the original program have them.
  public static let toleratedSections = ["camera"]

  // MARK: the desk

  /// Plans the RTSP port, on which the video process listens.
  public static func plan(_ bench: Bench<Wiring>) { bench.listens(tcp: \.port) }

  public static func desk(_ made: DeskMaterial<Video>) throws -> VideoDesk {
    let start = try VideoStart(made.wiring, address: made.bindAddress, isSimulated: made.isSimulated)
    let told = Guarded(start.settings(made.rules()))
    let orders = VideoOrders()
    let desk = VideoDesk(
      start.description(told.value, made.rules()), order: { orders.send($0) }, publish: made.publish,
      renew: { rules, done in
        let wanted = start.settings(rules)
        let isSame = wanted == told.value
        told.value = wanted
        // Other settings restart the stream, which viewers must join again; a change of the longest recording alone restarts nothing.
        if isSame { done() } else { orders.replace(wanted, told: done) }
        return start.description(wanted, rules)
      },
      fileName: { "video-" + WallClock.text.prefix(19).replacing(":", with: "").replacing("T", with: "-") + ".mp4" })
    let (log, holder) = (VideoLog(made.logger), made.holder(ofTCP: \.port))
    orders.child = try made.child(
      ChildProgram(
        "tactus-video", ["serve", "--descriptor", "3"], called: "the video process",
        silence: SupervisionMachine.silenceLimit,
        advice: "it belongs beside tactus: swift build --product tactus-video"),
      speaking: VideoTalk.self, settings: .settings(told.value),
      heard: { report in
        let report = report.naming(holder)
        log.note(report)
        desk.receive(report)
      }, changed: { desk.receive($0) })
    orders.desk = desk
    made.offer(PictureSource { try await desk.picture() })
    made.share(desk)
    return desk
  }

  public static var routes: [SystemRoute<Video>] { SystemRoute.own { $0.routes } }

  // MARK: what is seen of it

  public static func seen(_ published: Published<State>, _ look: Look<Video>) -> VideoSeen {
    look.shared(VideoDesk.self)?.seen(at: look.now) ?? VideoSeen(VideoSnapshot(), VideoDescription(), at: look.now)
  }

  public static var movingMembers: Set<String> {
    ["statistics", "objects", "pictures", "failures", "detectMs", "retryMs", "bytes"]
  }

  public static func entities(
    _ look: Look<Video>, on topics: DeviceTopics, takesCommands: Bool
  ) -> [HomeAssistantEntity] {
    var viewers = HomeAssistantEntity(.sensor, id: "video-viewers", name: "Video viewers")
    viewers.stateTopic = topics.state(name)
    viewers.valueTemplate =
      "{{ value_json.viewers.rtsp + value_json.viewers.whep + value_json.viewers.mp4 + value_json.viewers.mjpeg }}"
    viewers.stateClass = "measurement"
    return [.state("video", name: "Video", of: name, attributes: ["reason", "wayOut"], on: topics), viewers]
  }

  public static func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    [doctor.cameras(doctor.machine.isThisOne ? CameraReport.current() : [])] + doctor.detector()
  }
}

/// The row of the dashboard.
extension Video: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states(
      "State of the video", "Each state is a row; it is drawn while the video is in it. idle: nobody is watching.",
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
