import Leg
import Service
import Tactus

/// What the legs' loop publishes, as metrics.
struct LegMetrics: MetricSource {
  private let door: LegDoor

  init(_ door: LegDoor) { self.door = door }

  func write(into writer: inout MetricsWriter) {
    let newest = door.newest
    let legs = door.legs.indices.map { (label: "\($0)", status: newest[$0]) }
    writer.gauge(
      "tactus_leg_state", "1 for the state a leg is in, 0 for the others.",
      legs.flatMap { leg, status in
        LegState.words.map { .init($0 == status.state.word, ["leg": leg, "state": Self.label($0)]) }
      })
    writer.gauge(
      "tactus_leg_pulse_seconds", "The pulse that a servo gets; absent while it gets none.",
      legs.compactMap { leg, status in status.pulse.map { .init(Double($0.microseconds) / 1e6, ["leg": leg]) } })
    writer.gauge(
      "tactus_leg_last_command_age_seconds", "Time since the last command that fed a leg; absent while disarmed.",
      legs.compactMap { leg, status in
        status.lastCommand.map { .init(max(.zero, door.mailbox.now() - $0), ["leg": leg]) }
      })
    func counter(_ name: String, _ help: String, _ value: (LegStatus) -> Int64) {
      writer.counter("tactus_leg_\(name)_total", help, legs.map { .init(value($0.status), ["leg": $0.label]) })
    }
    counter("datagrams", "Datagrams received, whatever they were.") { $0.datagrams }
    counter("malformed_datagrams", "Datagrams that were no command.") { $0.malformed }
    counter("accepted_commands", "Commands and requests that a leg took.") { $0.accepted }
    counter("ignored_commands", "Commands and requests that did nothing.") { $0.ignored }
    counter("clamped_pulses", "Pulses beyond the soft limits, obeyed within them.") { $0.clamped }
    counter("telemetry_frames", "Telemetry frames sent.") { $0.reports }
    counter("dropped_telemetry_frames", "Telemetry frames that the kernel did not take.") { $0.reportFailures }
    writeLinks(newest, into: &writer)
    write(newest, into: &writer)
  }

  private func writeLinks(_ newest: LegSnapshot, into writer: inout MetricsWriter) {
    let links = door.legs.indices.flatMap { leg in
      door.linkDocuments(of: leg, in: newest).map { (leg: leg, document: $0) }
    }
    func labels(_ link: (leg: Int, document: LegLinkDocument)) -> KeyValuePairs<String, String> {
      ["leg": "\(link.leg)", "link": link.document.report.kind.rawValue]
    }
    writer.gauge(
      "tactus_leg_link_usable", "Whether somebody can command a leg by a link: what it needs is there.",
      links.map { .init($0.document.report.state.isUsable, labels($0)) })
    writer.gauge(
      "tactus_leg_link_peer", "Whether somebody at a link's other end gets telemetry.",
      links.map { .init($0.document.report.peer != nil, labels($0)) })
    func counter(_ name: String, _ help: String, _ value: (LegLinkTraffic) -> Int64) {
      writer.counter("tactus_leg_link_\(name)_total", help, links.map { .init(value($0.document.traffic), labels($0)) })
    }
    counter("received_frames", "Frames received, whatever they were.") { $0.received }
    counter("malformed_frames", "Frames that were no command.") { $0.malformed }
    counter("lost_frames", "Frames that came and never reached the leg: noise, the loop was behind.") { $0.lost }
    counter("sent_frames", "Telemetry frames sent.") { $0.sent }
    counter("send_failures", "Telemetry frames that were not taken.") { $0.sendFailures }
  }

  private func write(_ newest: LegSnapshot, into writer: inout MetricsWriter) {
    let chip = newest.servos
    writer.gauge("tactus_leg_chip_ready", "Whether the servos' chip is configured and answers.", [.init(chip.isReady)])
    writer.gauge(
      "tactus_leg_outputs_enabled", "Whether the output-enable line lets pulses out; absent without one that answers.",
      chip.outputsEnabled.map { [.init($0)] } ?? [])
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter("tactus_leg_\(name)_total", help, [.init(value)])
    }
    counter("chip_failures", "Writes that failed after their retries, and lost configurations.", chip.failures)
    counter("chip_writes", "Transfers that wrote pulses or off.", chip.writes)
    counter("chip_channel_writes", "Channels in those transfers.", chip.channelsWritten)
    counter("chip_configurations", "Times that the chip was configured.", chip.configurations)
    counter("output_enable_failures", "Times that the output-enable line failed.", chip.enableFailures)
    writer.gauge(
      "tactus_leg_battery_volts", "The battery's voltage; absent without a sensor that answers.",
      newest[0].battery.map { [.init(Double($0.count) / 1000)] } ?? [])
    counter("battery_failures", "Measurements of the battery that failed.", newest.battery.failures)
    counter("bus_retries", "Bus transfers that succeeded only after a retry.", chip.retries)
    counter("dropped_notices", "Changes that no log shows because the ring was full.", newest.noticesDropped)
    counter("dropped_answers", "Answers that found their ring full.", newest.answersDropped)
  }

  /// `emergency_stopped`
  private static func label(_ word: String) -> String {
    word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
  }
}
