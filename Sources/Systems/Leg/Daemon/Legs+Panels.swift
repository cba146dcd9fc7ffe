import TactusDaemon

/// The row of the dashboard.
extension Legs: HasPanels {
  static let rowTitle = "Legs"
  @DeclarationBuilder<Panel> static var panels: [Panel] {
    Panel.states("State of each leg", "Each state of a leg is a row; it is drawn while the leg is in it.", height: 5) {
      Series("state", "leg {{leg}} {{state}}")
    }
    Panel("Pulse", "What each servo gets; no line while it gets none.") {
      Series("pulse_seconds", "leg {{leg}}")
    }
    Panel(
      "Age of the last command, legs",
      "Of the command that fed each leg last; no line while disarmed. The pulse ends when it reaches the deadman, 200 ms unless configured.",
      from: 0
    ) {
      Series("last_command_age_seconds", "leg {{leg}}")
    }
    Panel(
      "Commands of legs",
      "Frames and requests that a leg took, ignored, did not understand, and pulses beyond its limits.", unit: "reqps",
      from: 0
    ) {
      Series("accepted_commands_total", "leg {{leg}} accepted")
      Series("ignored_commands_total", "leg {{leg}} ignored", .ifAny)
      Series("malformed_datagrams_total", "leg {{leg}} malformed", .ifAny)
      Series("clamped_pulses_total", "leg {{leg}} clamped", .ifAny)
    }
    Panel(
      "Servo chip", "Transfers of pulses and of off; failures of the chip, its output-enable line and its bus.",
      unit: "ops", from: 0
    ) {
      Series("chip_writes_total", "writes")
      Series("chip_failures_total", "failures", .ifAny)
      Series("output_enable_failures_total", "output-enable failures", .ifAny)
      Series("bus_retries_total", "bus retries", .ifAny)
    }
    Panel(
      "Outputs", "Whether the chip is configured and answers, and whether its output-enable line lets pulses out.",
      unit: "bool_yes_no", from: 0, width: 8
    ) {
      Series("chip_ready", "chip ready")
      Series("outputs_enabled", "outputs enabled")
    }
    Panel("Battery", "No line without a sensor that answers.", from: 0, width: 8) {
      Series("battery_volts")
    }
    Panel(
      "Links of legs",
      "Frames of each way to a leg: UDP, Bluetooth, serial, WebSocket. A line at 0 “not usable”: what the link needs is missing.",
      unit: "reqps", from: 0, width: 8
    ) {
      Series("link_received_frames_total", "leg {{leg}} {{link}} in", .ifAny)
      Series("link_sent_frames_total", "leg {{leg}} {{link}} out", .ifAny)
      Series("link_lost_frames_total", "leg {{leg}} {{link}} lost", .ifAny)
      Series("link_send_failures_total", "leg {{leg}} {{link}} not sent", .ifAny)
      Series("link_usable", "leg {{leg}} {{link}} not usable", .ifZero)
    }
  }
}
