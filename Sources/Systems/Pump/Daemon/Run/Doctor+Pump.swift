import TactusDaemon

extension Doctor {
  /// What the configuration's pump needs of this machine: a radio to a pump elsewhere, a PWM unit. Its converter is among
  /// the chips, its line among the serial lines.
  func pump() -> [Diagnosis] {
    guard let pump = configuration?.pump, pump.backend == .hardware else { return [] }
    switch pump.role {
    case .operator:
      switch pump.address {
      // Among the serial lines.
      case .serial: return []
      case .bluetooth(let place): return [radio("pump.device", "a pump at \(place)")]
      }
    case .device:
      return [motor(pump.own)]
    }
  }

  private func motor(_ own: Configuration.Pump.Own) -> Diagnosis {
    let count = machine.read("\(own.pwmChip)/npwm").flatMap { Int($0) }
    let isThere = count.map { own.pwmChannel < $0 } ?? false
    return Diagnosis(
      name: isThere || count == nil ? "pump.pwm.chip" : "pump.pwm.channel", status: isThere ? .ok : .fail,
      found: "\(own.pwmChip): " + (count.map { "\($0) output\($0 == 1 ? "" : "s")" } ?? "no such PWM unit"),
      why: "the pump's motor hangs on output \(own.pwmChannel)",
      fix: isThere
        ? nil
        : count == nil
          ? "add dtoverlay=pwm to /boot/firmware/config.txt and reboot; ls /sys/class/pwm lists the units"
          : "set pump.pwm.channel to less than \(count!)")
  }
}
