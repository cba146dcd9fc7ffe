import TactusDaemon

/// The configuration keys of the sprinkler that a reload may change.
public struct SprinklerRules: Settings, Equatable {
  var catchUpMinutes = 5
  var afterPowerCut = AfterPowerCut.resume
  var manualInRain = ManualInRain.warn
  var runningInRain = RunningInRain.stop
  var rainDelayHours = 24
  /// The longest duration that a deficit may give to a step of a schedule, in % of its minutes.
  var deficitPercent = 200
  // Keys of the rain sensor, which have no meaning without its pin.
  var rainSensorMinutes = 1
  var rainSensorDryHours = 0
  // Keys of the flow, which have no meaning without its sensor.
  /// The limits of the flow in litres per minute; `nil` for a limit that is not watched.
  var noFlow, highFlow, leak: Double?
  var settleSeconds = 30
  var onAlarm = Alarm.stop
  var learnRuns = 5
  var learntPercent = 30
  // Keys of the weather, which have no meaning without a provider.
  var thresholdMillimetres = 5.0
  var days = 1
  var delayHours = 24
  var pollMinutes = 180

  public init() {}

  @DeclarationBuilder<Key<Self>> public static var keys: [Key<Self>] {
    ofWatering
    ofFlow
    ofLearning
    ofWeather
  }

  @DeclarationBuilder<Key<Self>> private static var ofWatering: [Key<Self>] {
    Key(
      "sprinkler.catch_up_minutes", \.catchUpMinutes, in: 0...1440,
      "A start that was missed (the program did not run, the machine slept) is made up for so many minutes.")
    Key(
      "sprinkler.after_power_cut", \.afterPowerCut,
      "Runs that a power cut interrupted, which is another boot of the machine: resume (what is left of them runs) or close (they are logged as ended). After a crash or a restart of the daemon nothing is resumed."
    )
    Key(
      "sprinkler.manual_in_rain", \.manualInRain,
      "A zone that is turned on by hand during a rain delay: allow, warn (it runs, the answer says so) or deny (423).")
    Key(
      "sprinkler.running_in_rain", \.runningInRain,
      "What is running by schedule when a rain delay begins: stop or finish.")
    Key(
      "sprinkler.deficit_most_percent", \.deficitPercent, in: 100...250,
      "The longest that a schedule that goes by the deficit waters a zone, in percent of its minutes there.")
    Key("sprinkler.rain_delay_hours", \.rainDelayHours, in: 1...336, "Length of a rain delay that nobody gave one.")
    Key(
      "sprinkler.rain_sensor.delay_minutes", \.rainSensorMinutes, in: 0...1440,
      "Minutes that the rain sensor must have been wet before the rain delay begins.")
    Key(
      "sprinkler.rain_sensor.dry_hours", \.rainSensorDryHours, in: 0...336,
      "Hours that the rain delay lasts after the sensor is dry again.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofFlow: [Key<Self>] {
    Key(
      "sprinkler.flow.no_flow_l_per_min", \.noFlow, in: 0.001...10_000, limit: .lower,
      "Less than so many litres a minute while a valve is open is an alarm. Unless given: not watched.")
    Key(
      "sprinkler.flow.high_flow_l_per_min", \.highFlow, in: 0.001...10_000, limit: .upper,
      "More than so many litres a minute while a valve is open is an alarm: a burst pipe. Unless given: not watched.")
    Key(
      "sprinkler.flow.leak_l_per_min", \.leak, in: 0.001...10_000, limit: .upper,
      "More than so many litres a minute while all is closed is an alarm. Unless given: not watched.")
    Key(
      "sprinkler.flow.settle_s", \.settleSeconds, in: 1...3600, limit: .upper,
      "Seconds over which flow is measured, and after which it has settled.")
    Key(
      "sprinkler.flow.on_alarm", \.onAlarm, widest: .notice,
      "What an alarm does: stop (every valve closes, in fault until a reset) or notice (it is logged and shown).")
  }

  @DeclarationBuilder<Key<Self>> private static var ofLearning: [Key<Self>] {
    Key(
      "sprinkler.flow.learn_runs", \.learnRuns, in: 2...50,
      "Runs from which the usual flow of a zone with learn_flow is learnt: whole ones of at least a minute, open alone."
    )
    Key(
      "sprinkler.flow.learnt_percent", \.learntPercent, in: 5...90,
      "How far a zone's flow may be from the one that is learnt, in percent of it; further is an alarm.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofWeather: [Key<Self>] {
    Key(
      "sprinkler.weather.threshold_mm", \.thresholdMillimetres, in: 0.1...500,
      "Millimetres of rain, today and the days after it together, from which on watering is suspended.")
    Key("sprinkler.weather.days", \.days, in: 1...7, "Days that are added up, today first.")
    Key("sprinkler.weather.delay_hours", \.delayHours, in: 1...336, "Length of the rain delay that follows.")
    Key("sprinkler.weather.poll_minutes", \.pollMinutes, in: 15...1440, "Minutes from question to question.")
  }
}

extension SprinklerRules {
  enum AfterPowerCut: String, Word {
    case resume
    case close
  }

  enum ManualInRain: String, Word {
    case allow
    case warn
    case deny
  }

  enum RunningInRain: String, Word {
    case stop
    case finish
  }

  enum Alarm: String, Word {
    case stop
    case notice
  }
}
