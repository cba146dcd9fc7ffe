import TactusDaemon

extension Configuration.Sprinkler {
  /// What of the file may change while the program runs; the store and the API have the zones' own limits.
  var rules: [(key: String, value: ConfigValue?)] {
    [
      ("sprinkler.catch_up_minutes", .integer(catchUpMinutes)),
      ("sprinkler.after_power_cut", .text(resumesAfterPowerCut ? "resume" : "close")),
      ("sprinkler.manual_in_rain", .text(manualInRain.rawValue)),
      ("sprinkler.running_in_rain", .text(stopsInRain ? "stop" : "finish")),
      ("sprinkler.rain_delay_hours", .integer(rainDelayHours)),
      ("sprinkler.weather.threshold_mm", weather.map { .number($0.thresholdMillimetres) }),
      ("sprinkler.weather.days", weather.map { .integer($0.days) }),
      ("sprinkler.weather.delay_hours", weather.map { .integer($0.delayHours) }),
      ("sprinkler.weather.poll_minutes", weather.map { .integer($0.pollMinutes) }),
    ]
  }
}
