import Leg
import Service
import Tactus
import TactusDaemon
import Wire

/// The metrics that fields cannot express: state names with `_`, and metrics with two labels.
extension Legs {
  static func write(_ published: Published<LegSnapshot>, _ look: Look<Legs>, into writer: inout MetricsWriter) {
    let newest = published.state
    writer.gauge(
      "tactus_leg_state", "1 for the state a leg is in, 0 for the others.",
      look.wiring.legs.indices.flatMap { leg in
        LegShown.Word.allCases.map {
          .init($0 == newest[leg].state.word, ["leg": "\(leg)", "state": label($0.rawValue)])
        }
      })
    guard let ways = look.shared(LegWays.self) else { return }
    let links = look.wiring.legs.indices.flatMap { leg in ways.ways(of: leg, in: newest).map { (leg: leg, way: $0) } }
    func labels(_ link: (leg: Int, way: LegWay)) -> KeyValuePairs<String, String> {
      ["leg": "\(link.leg)", "link": link.way.kind.rawValue]
    }
    writer.gauge(
      "tactus_leg_link_usable", "Whether somebody can command a leg by a link: what it needs is there.",
      links.map { .init($0.way.report.state.isUsable, labels($0)) })
    writer.gauge(
      "tactus_leg_link_peer", "Whether somebody at a link's other end gets telemetry.",
      links.map { .init($0.way.report.peer != nil, labels($0)) })
    func counter(_ name: String, _ help: String, _ value: (LegTraffic) -> Int64) {
      writer.counter("tactus_leg_link_\(name)_total", help, links.map { .init(value($0.way.traffic), labels($0)) })
    }
    counter("received_frames", "Frames received, whatever they were.") { $0.received }
    counter("malformed_frames", "Frames that were no command.") { $0.malformed }
    counter("lost_frames", "Frames that came and never reached the leg: noise, the loop was behind.") { $0.lost }
    counter("sent_frames", "Telemetry frames sent.") { $0.sent }
    counter("send_failures", "Telemetry frames that were not taken.") { $0.sendFailures }
  }

  /// Returns the name in the form used for labels, such as `emergency_stopped`.
  private static func label(_ word: String) -> String {
    word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
  }

  /// The members of the state that change continually. The pulse is not one of them: it is a sensor of its own and changes only while an
  /// operator drives.
  static var movingMembers: Set<String> {
    [
      "ageMs", "deadlineNs", "batteryMv", "readings", "writes", "channelsWritten", "retries", "failures",
      "step", "round", "framesReceived", "framesMalformed", "framesLost", "framesSent", "sendFailures",
    ]
  }

  static func entities(_ look: Look<Legs>, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    look.wiring.legs.indices.flatMap { index in
      let leg = look.wiring.name(index)
      var pulse = HomeAssistantEntity(.sensor, id: "leg-\(index)-pulse", name: "\(leg) pulse")
      pulse.stateTopic = topics.state(name, "\(index)")
      pulse.valueTemplate = "{{ value_json.pulseUs }}"
      pulse.unit = "µs"
      let attributes = ["error", "fault", "wayOut", "offConfirmed"]
      return [.state("leg-\(index)", name: leg, of: name, "\(index)", attributes: attributes, on: topics), pulse]
    }
  }
}
