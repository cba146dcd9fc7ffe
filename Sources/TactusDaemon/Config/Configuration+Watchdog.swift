import TactusGuard

extension Configuration {
  /// Returns the errors of the hardware watchdog's settings. Whether the device exists is checked at the start and by
  /// `doctor`, because the file may be meant for another host.
  func watchdogErrors(_ places: ConfigPlaces) -> [ConfigError] {
    let key = "runtime.watchdog"
    guard let watchdog else { return [] }
    guard watchdog.path.hasPrefix("/") else {
      let expected = "expected an absolute path such as /dev/watchdog"
      return [places.error(file, key, "\(expected), got \(watchdog.path)", alone: true)]
    }
    if let flaw = HardwareWatchdog.flaw(path: watchdog.path) {
      return [places.error(file, key, "\(watchdog.path): \(flaw)", alone: true)]
    }
    guard guardEnabled else {
      return [places.error(file, key, "expected safety.watchdog_enabled: true, since the guard feeds it")]
    }
    return []
  }

  /// Returns the error for a hardware watchdog that does not exist, or `nil` if it exists or the file names none.
  func missingWatchdog(_ places: ConfigPlaces) -> ConfigError? {
    guard let watchdog, !HardwareWatchdog.isThere(watchdog.path) else { return nil }
    return places.error(
      file, "runtime.watchdog",
      "expected a watchdog, got nothing at \(watchdog.path); `\(DaemonProgram.current.name) doctor` says more")
  }
}
