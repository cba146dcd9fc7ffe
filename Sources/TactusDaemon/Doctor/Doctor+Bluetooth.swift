@_spi(FromOutside) import Conversions

extension Doctor {
  /// Checks the Bluetooth adapter, whether it is blocked, and bluetoothd. A host without an adapter is fine, because few systems need one.
  func bluetooth() -> Diagnosis {
    let why = "a link over Bluetooth needs an adapter that is not blocked, and bluetoothd"
    let adapters = machine.list("/sys/class/bluetooth").filter { $0.hasPrefix("hci") && !$0.contains(":") }
    func diagnosis(_ status: Diagnosis.Status, _ found: String, fix: String? = nil) -> Diagnosis {
      Diagnosis(name: "Bluetooth", status: status, found: found, why: why, fix: fix)
    }
    guard !adapters.isEmpty else { return diagnosis(.ok, "no adapter") }
    let names = adapters.joined(separator: ", ")
    switch bluetoothBlock {
    case .switched: return diagnosis(.warn, "\(names), blocked by a switch on the machine", fix: "use that switch")
    case .rfkill: return diagnosis(.warn, "\(names), blocked", fix: "sudo rfkill unblock bluetooth")
    case nil: break
    }
    guard isRunning("bluetoothd") else {
      return diagnosis(
        .warn, "\(names), bluetoothd is not running",
        fix: "sudo apt install bluez && sudo systemctl enable --now bluetooth")
    }
    return diagnosis(.ok, "\(names), bluetoothd is running")
  }

  private enum Block {
    case switched
    case rfkill
  }

  private var bluetoothBlock: Block? {
    let folder = "/sys/class/rfkill"
    let radios = machine.list(folder).filter { machine.read("\(folder)/\($0)/type") == "bluetooth" }
    if radios.contains(where: { machine.read("\(folder)/\($0)/hard") == "1" }) { return .switched }
    return radios.contains { machine.read("\(folder)/\($0)/soft") == "1" } ? .rfkill : nil
  }

  private func isRunning(_ program: String) -> Bool {
    machine.list("/proc").contains { Int($0) != nil && machine.read("/proc/\($0)/comm") == program }
  }
}
