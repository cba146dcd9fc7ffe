import TactusDaemon

/// The row of the dashboard.
extension Sprinkler: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states(
      "Zones", "Each zone whose valve is open is drawn, and the rain delay and the master valve while they are.",
      red: [], height: 6
    ) {
      Series("zone_open", "zone {{zone}}")
      Series("rain_delay_seconds", "rain delay")
      Series("master_open", "master valve")
    }
    Panel.states("State of the valves", "Each state is a row; it is drawn while the valves are in it.") {
      Series("state")
    }
    Panel("Watered today", "What each zone has run on this local day; it begins anew at local midnight.", from: 0) {
      Series("zone_today_seconds", "zone {{zone}}")
    }
    Panel(
      "Still to come",
      "Until each open zone closes, and until the next start of a schedule; no line while there is none.", from: 0
    ) {
      Series("zone_remaining_seconds", "zone {{zone}}")
      Series("next_start_seconds", "next start")
    }
    Panel(
      "Water", "By the flow sensor, where there is one; the alarm is 1 while the flow is not what it should be.",
      from: 0
    ) {
      Series("flow_litres_per_minute", "l/min")
      Series("flow_alarm", "alarm")
    }
    Panel(
      "Runs and lines",
      "Runs that ended in the last hour, and what keeps them from it: refusals, lines that fail or read back otherwise, a store that does not take a change.",
      unit: "short", from: 0
    ) {
      Series("completed_runs_total", "completed", over: "1h")
      Series("ended_runs_total", "ended early", less: "completed_runs_total", over: "1h")
      Series("refused_orders_total", "refused", over: "1h", .ifAny)
      Series("line_failures_total", "line failures", over: "1h", .ifAny)
      Series("line_differences_total", "read back otherwise", over: "1h", .ifAny)
      Series("store_writable", "store refuses", .ifZero)
    }
  }
}
