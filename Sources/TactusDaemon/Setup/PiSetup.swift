import Tactus

/// Derives the changes to a Raspberry Pi's files that give this program its buses, its serial line and an isolated CPU.
/// The files are read here but not written.
struct PiSetup {
  /// The features that the host shall have.
  struct Wishes: Equatable {
    var hasI2C = false
    var hasSPI = false
    var hasPWM = false
    /// Whether the header's serial line is available, without a console and without Bluetooth on it.
    var hasSerialLine = false
    /// Whether Bluetooth stays available, on the slower of the two serial units.
    var keepsBluetooth = false
    /// The CPUs reserved for lanes that request them, or `nil` if none are.
    var isolated: CPUSet?
    /// Whether systemd feeds the hardware watchdog, which restarts a host that hangs.
    var hasWatchdog = true
    var hasPerformanceGovernor = true
  }

  /// A file to be written.
  struct Change: Equatable {
    var path: String
    /// The present text, or `nil` if the file does not exist yet.
    var old: String?
    var new: String

    /// The change as `diff -u` shows it; empty if nothing changes.
    var difference: String { UnifiedDifference.text(of: path, from: old, to: new) }
  }

  private static let comment = "Added by tactus setup pi."

  let wishes: Wishes
  /// Returns the text of a file of the host, or `nil` if the file does not exist.
  let read: (String) -> String?

  /// Returns the folder of config.txt and cmdline.txt, or `nil` if the host is not a Raspberry Pi or its boot partition is not mounted.
  static func bootFolder(_ read: (String) -> String?) -> String? {
    ["/boot/firmware", "/boot"].first { read("\($0)/config.txt") != nil }
  }

  /// Returns the files that change, in the order in which they are shown; empty if all features are present already.
  ///
  /// - Throws: an error for a file that is not understood.
  func changes() throws(BootFileError) -> [Change] {
    guard let folder = Self.bootFolder(read) else {
      throw BootFileError(
        path: "/boot/firmware/config.txt", line: 1, expected: "a Raspberry Pi's configuration of its firmware",
        got: "no such file")
    }
    var changes = [try firmware("\(folder)/config.txt"), try kernelArguments("\(folder)/cmdline.txt")]
    if wishes.hasI2C { changes.append(whole("/etc/modules-load.d/tactus.conf", "i2c-dev\n")) }
    if wishes.hasWatchdog {
      changes.append(whole("/etc/systemd/system.conf.d/tactus.conf", "[Manager]\nRuntimeWatchdogSec=15s\n"))
    }
    if wishes.hasPerformanceGovernor {
      changes.append(
        whole(
          "/etc/tmpfiles.d/tactus.conf",
          "w- /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor - - - - performance\n"))
    }
    return changes.filter { $0.old != $0.new }
  }

  private func firmware(_ path: String) throws(BootFileError) -> Change {
    let old = read(path) ?? ""
    var file = try FirmwareConfiguration(old, path: path)
    func add(_ setting: String) { file.append(setting, comment: Self.comment) }
    if wishes.hasI2C, file.parameter("i2c_arm", "i2c", "i2c1") != "on" { add("dtparam=i2c_arm=on") }
    if wishes.hasSPI, file.parameter("spi") != "on" { add("dtparam=spi=on") }
    if wishes.hasPWM, !file.hasOverlay("pwm", "pwm-2chan") { add("dtoverlay=pwm-2chan") }
    if wishes.hasSerialLine {
      if file.value(of: "enable_uart") != "1" { add("enable_uart=1") }
      if !file.hasOverlay("disable-bt", "miniuart-bt", "pi3-disable-bt", "pi3-miniuart-bt") {
        add(wishes.keepsBluetooth ? "dtoverlay=miniuart-bt" : "dtoverlay=disable-bt")
      }
    }
    if wishes.hasWatchdog, file.parameter("watchdog") != "on" { add("dtparam=watchdog=on") }
    return Change(path: path, old: old, new: file.text == old + "\n" ? old : file.text)
  }

  /// Returns the change of cmdline.txt. The user's choices are kept, such as an `isolcpus` of other CPUs.
  private func kernelArguments(_ path: String) throws(BootFileError) -> Change {
    let old = read(path) ?? ""
    var file = try KernelArguments(old, path: path)
    let before = file
    if let isolated = wishes.isolated, file.value(of: "isolcpus") == nil {
      file.append("isolcpus=\(isolated)")
      // The other CPUs are those below, since the last ones are isolated.
      if file.value(of: "irqaffinity") == nil, let first = isolated.cpus.first, first > 0 {
        file.append("irqaffinity=\(CPUSet(0..<first))")
      }
    }
    if wishes.hasSerialLine { file.removeSerialConsoles() }
    return Change(path: path, old: old, new: file == before ? old : file.text)
  }

  /// Returns the change of a file that only this command writes.
  private func whole(_ path: String, _ content: String) -> Change {
    Change(path: path, old: read(path), new: "# \(Self.comment)\n\(content)")
  }
}

extension PiSetup.Wishes {
  /// Derives the features that the hardware of a configuration needs.
  init(_ configuration: Configuration) {
    for claim in configuration.claims {
      switch claim.resource {
      case .i2c: hasI2C = true
      case .spi: hasSPI = true
      case .pwm: hasPWM = true
      case .radio: keepsBluetooth = true
      case .serial(let path): if ["/dev/ttyAMA0", "/dev/serial0"].contains(path) { hasSerialLine = true }
      default: break
      }
    }
  }
}
