import Buses
import BusesLinux
@_spi(FromOutside) import Conversions

extension Doctor {
  /// Checks that the serial lines of the configuration exist.
  func serialLines() -> [Diagnosis] {
    (configuration?.claims ?? []).compactMap { claim in
      guard case .serial(let path) = claim.resource else { return nil }
      let name = path.split(separator: "/").last.map { String($0) } ?? path
      let isThere = machine.list(String(path.dropLast(name.utf8.count + 1))).contains(name)
      return Diagnosis(
        name: claim.key, status: isThere ? .ok : .fail, found: "\(path) is \(isThere ? "" : "not ")there",
        why: "what is at its other end cannot be reached without it",
        fix: isThere ? nil : "plug the adapter in and see what ls /dev/tty* lists; the file's key is \(claim.key)")
    }
  }

  /// Checks for GPIO lines of the configuration that no chip has or that this program may not open.
  func lines() -> [Diagnosis] {
    let wanted = (configuration?.claims ?? []).compactMap { claim -> (key: String, line: GPIOLineName)? in
      if case .gpio(let line) = claim.resource { (claim.key, line) } else { nil }
    }
    guard !wanted.isEmpty else { return [] }
    let why = "a line that cannot be had turns nothing on, and nothing off"
    guard let chips = machine.gpioChips() else {
      return [
        Diagnosis(
          name: wanted[0].key, status: .fail, found: "no permission to open /dev/gpiochip*", why: why,
          fix: "sudo usermod -aG gpio $USER, then log in again")
      ]
    }
    let missing = Dictionary(grouping: wanted.filter { !Self.has($0.line, chips) }, by: \.key)
    return missing.sorted { $0.key < $1.key }.map { key, lines in
      Diagnosis(
        name: key, status: .fail, found: "no chip here has " + lines.map { "\($0.line)" }.joined(separator: ", "),
        why: why, fix: "set \(key) to lines that gpioinfo lists")
    }
  }

  private static func has(_ line: GPIOLineName, _ chips: [GPIOChipReport]) -> Bool {
    switch line.place {
    case .offset(let offset, let chip):
      chips.contains { [$0.path, $0.label, String($0.path.dropFirst(5))].contains(chip) && offset < $0.lines }
    case .name(let name): chips.contains { $0.names.contains(name) }
    }
  }

  /// Checks that a PWM unit has the PWM outputs that a declared system claims.
  func pwmOutputs(_ claims: [ResourceClaim]) -> [Diagnosis] {
    claims.compactMap { claim in
      guard case .pwm(let path) = claim.resource, let output = PWMOutputName(path) else { return nil }
      let count = machine.read(output.chip + "/npwm").flatMap { Int($0) }
      let isThere = count.map { output.channel < $0 } ?? false
      let found =
        count.map { "\(output.chip) has \($0 == 1 ? "1 output, pwm0" : "\($0) outputs, from pwm0")" }
        ?? "no \(output.chip)"
      return Diagnosis(
        name: claim.key, status: isThere ? .ok : .fail, found: isThere ? "\(path) is there" : found,
        why: "an output that is not there drives nothing, and nothing turns it off",
        fix: isThere
          ? nil
          : "on a Raspberry Pi dtoverlay=pwm-2chan in config.txt and a reboot, or set \(claim.key) to an output of "
            + "/sys/class/pwm")
    }
  }

  /// Checks that there is an adapter for each Bluetooth claim of the configuration.
  func radios() -> [Diagnosis] {
    (configuration?.claims ?? []).compactMap { claim in
      guard case .radio = claim.resource else { return nil }
      return radio(claim.key, "to be found by Bluetooth it")
    }
  }

  /// Checks that the host has a Bluetooth adapter.
  ///
  /// - Parameter what: the device that needs it, such as `a pump at hci0`.
  public func radio(_ key: String, _ what: String) -> Diagnosis {
    let isThere = machine.list("/sys/class/bluetooth").contains { $0.hasPrefix("hci") && !$0.contains(":") }
    return Diagnosis(
      name: key, status: isThere ? .ok : .fail, found: isThere ? "there is an adapter" : "no Bluetooth adapter",
      why: "\(what) needs a radio", fix: isThere ? nil : "plug an adapter in, or sudo rfkill unblock bluetooth")
  }
}
