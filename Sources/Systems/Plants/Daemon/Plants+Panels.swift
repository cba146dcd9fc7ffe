import TactusDaemon

/// The row of the dashboard.
extension Plants: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel("Moisture", "Of each plant: the mean of its probes that are read.", from: 0, to: 1) {
      Series("moisture_ratio", "{{name}} ({{plant}})")
    }
    Panel("Temperature of plants", "By the probes that have a thermometer.") {
      Series("temperature_celsius", "{{name}} ({{plant}})")
    }
    Panel.states(
      "Alerts of plants", "Raised: dry, wet, cold, hot, or a probe that has fallen silent.", width: 12, height: 5
    ) {
      Series("alert", "{{name}}: {{alert}}")
    }
    Panel("Probes", "Since each probe was last read, and readings that failed.", height: 5) {
      Series("probe_age_seconds", "{{sensor}} age")
      Series("probe_failures_total", "{{sensor}} failures in an hour", over: "1h", .ifAny)
    }
    Panel(
      "The Plant-Tracker app", "Messages of an hour by what became of them, and replies.", unit: "short", width: 24,
      height: 6
    ) {
      Series("messages_total", over: "1h")
      Series("replies_total", "replies", over: "1h")
      Series("store_writable", "store refuses", .ifZero)
    }
  }
}
