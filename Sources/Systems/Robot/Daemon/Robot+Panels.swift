import TactusDaemon

/// The row of the dashboard.
extension Robot: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.alarm("Emergency stop", "emergency_stopped")
    Panel.states("State", "Each state is a row; it is drawn while the robot is in it.", width: 20) {
      Series("state")
    }
    Panel("Wheel speeds") {
      Series("wheel_speed_ratio")
    }
    Panel("Commands", unit: "reqps", from: 0) {
      Series("accepted_commands_total", "accepted")
      Series("ignored_commands_total", "ignored: {{reason}}", .ifAny)
      Series("malformed_datagrams_total", "malformed", .ifAny)
    }
    Panel(
      "Age of the last command",
      "Of the source that controls; no line while control is free. The motors stop when it reaches the failsafe timeout.",
      from: 0
    ) {
      Series("last_command_age_seconds")
    }
    Panel("Motor writes", unit: "wps", from: 0) {
      Series("motor_writes_total", "taken")
      Series("motor_write_failures_total", "failed")
      Series("bus_retries_total", "retried")
    }
  }
}
