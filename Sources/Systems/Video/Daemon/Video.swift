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
  WithoutLoops, Sections, Sees, HasDocuments, ShowsEntities, Introduces, Reaches, MayBeLeftOut, Checks, FindsDevices,
  Offers
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

  // MARK: in a build without it

  /// Whether the program was built with the trait `Video`.
  public static var isBuilt: Bool {
    #if Video
      true
    #else
      false
    #endif
  }
  public static let howToBuild = "swift build --traits Video"
  /// The sections that a file may have although the program was built without video, because the files of the original program have them.
  public static let toleratedSections = ["camera"]

  // MARK: its desk

  /// Plans the RTSP port, on which the video process listens.
  public static func plan(_ bench: Bench<Wiring>) { bench.listens(tcp: \.port) }

  public static func desk(_ made: DeskMaterial<Video>) throws -> VideoDesk {
    let start = try VideoStart(made.wiring, address: made.bindAddress, isSimulated: made.isSimulated)
    let told = Guarded(start.settings(made.rules()))
    let orders = VideoOrders()
    let desk = VideoDesk(
      start.description(told.value, made.rules()), order: { orders.take($0) }, publish: made.publish,
      renew: { rules, done in
        let wanted = start.settings(rules)
        let isSame = wanted == told.value
        told.value = wanted
        // Who looks at the stream joins anew; what is not the process's alone (the longest recording) is taken without that.
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
        desk.take(report)
      }, changed: { desk.take($0) })
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
