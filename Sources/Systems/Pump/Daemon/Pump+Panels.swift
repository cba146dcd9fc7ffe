import TactusDaemon

/// The row of the dashboard.
extension Pump: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states("State of the pump", "Each state is a row; it is drawn while the pump is in it.") {
      Series("state")
    }
    Panel("Temperature of the pump", "As the device measures them.") {
      Series("temperature_celsius")
    }
    Panel("Speed of the pump") {
      Series("speed_ratio")
    }
    Panel("Pumped since the last rest", from: 0) {
      Series("pumped_seconds")
    }
    Panel("Commands of the pump", unit: "short", from: 0) {
      Series("commands_total", "sent")
      Series("failed_commands_total", "came to nothing")
      Series("answering", "answers")
    }
  }
}
