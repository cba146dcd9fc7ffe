import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// Checks whether a host is ready for real time, and gives reasons and remedies if it is not.
public struct Doctor: Sendable {
  /// The host that is checked: the running one, or the files of another host below a folder.
  public let machine: Machine
  /// The configuration whose needs are checked, or `nil` to check all devices that a host may have.
  public var configuration: Configuration?

  func examine() -> [Diagnosis] {
    let parts: [[Diagnosis]] = [
      [
        kernel(), priority(), memory(), throttling(), controlGroup(), governor(), isolation(),
      ],
      laneCPUs(), interrupts(), [clockSource(), supply(), time()], cards(), [watchdog()], firmware(), serialUnit(),
      i2c(), chips(), spi(), serialLines(), lines(), radios(), [serialConsole()], gpio(), [bluetooth()], confinement(),
      DaemonProgram.current.kinds.flatMap { $0.diagnoses(self) }, groups(), places(), secrets(), receivers(),
    ]
    return parts.flatMap { $0 }
  }

  private func kernel() -> Diagnosis {
    let isRealTime = machine.kernelVersion.contains("PREEMPT_RT") || machine.read("/sys/kernel/realtime") == "1"
    let isPi = machine.kernelRelease.contains("rpi")
    return Diagnosis(
      name: "kernel", status: isRealTime ? .ok : .warn,
      found: "\(machine.kernelRelease), " + (isRealTime ? "PREEMPT_RT" : "not PREEMPT_RT (\(machine.kernelVersion))"),
      why: "without PREEMPT_RT a driver can hold up a real-time thread for milliseconds",
      fix: isRealTime
        ? nil
        : "sudo apt install " + (isPi ? "linux-image-rpi-v8-rt" : "linux-image-rt-$(dpkg --print-architecture)")
          + " && sudo reboot")
  }

  private func priority() -> Diagnosis {
    let limit = machine.priorityLimit
    let ok = machine.maySetPriority || limit.map { $0 >= 80 } ?? true
    return Diagnosis(
      name: "real-time priority", status: ok ? .ok : .fail,
      found: machine.maySetPriority
        ? "allowed (CAP_SYS_NICE)" : "RLIMIT_RTPRIO is \(limit.map(String.init) ?? "unlimited")",
      why: "lanes ask for SCHED_FIFO 80; without it any busy program delays them by tens of milliseconds",
      fix: ok
        ? nil
        : "echo \"$USER - rtprio 99\" | sudo tee /etc/security/limits.d/tactus-rtprio.conf, then log in again"
          + " (the systemd unit has LimitRTPRIO=99)")
  }

  private func memory() -> Diagnosis {
    let ok = machine.mayLockMemory || machine.memoryLimit == nil
    return Diagnosis(
      name: "locked memory", status: ok ? .ok : .fail,
      found: machine.mayLockMemory
        ? "allowed (CAP_IPC_LOCK)" : "RLIMIT_MEMLOCK is \(machine.memoryLimit.map { "\($0) bytes" } ?? "unlimited")",
      why: "a page that was swapped out costs a tick milliseconds",
      fix: ok
        ? nil
        : "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/tactus-memlock.conf, then log in again"
          + " (the systemd unit has LimitMEMLOCK=infinity)")
  }

  private func throttling() -> Diagnosis {
    let runtime = machine.read("/proc/sys/kernel/sched_rt_runtime_us").flatMap { Int($0) }
    let period = machine.read("/proc/sys/kernel/sched_rt_period_us").flatMap { Int($0) } ?? 1_000_000
    let restore = "sudo sysctl kernel.sched_rt_runtime_us=950000"
    let name = "real-time throttling"
    switch runtime {
    case nil:
      return Diagnosis(
        name: name, status: .warn, found: "kernel.sched_rt_runtime_us cannot be read",
        why: "it bounds the time real-time threads get", fix: "sysctl kernel.sched_rt_runtime_us")
    case 0?:
      return Diagnosis(
        name: name, status: .fail, found: "real-time threads get 0 µs", why: "SCHED_FIFO threads never run",
        fix: restore)
    case let runtime? where runtime < 0:
      return Diagnosis(
        name: name, status: .warn, found: "off: real-time threads may use all of every CPU",
        why: "a lane that never ends its tick freezes the machine, the way to stop it included", fix: restore)
    case let runtime?:
      return Diagnosis(
        name: name, status: .ok, found: "real-time threads get \(runtime) of every \(period) µs",
        why: "a lane that needs more is stopped for the rest", fix: nil)
    }
  }

  private func controlGroup() -> Diagnosis {
    let group = ControlGroup(read: machine.read)
    let isForbidden = group.realTimeShare?.runtime == 0
    let limits = [
      group.realTimeShare.map { "real-time threads get \($0) (cpu.rt_runtime_us)" },
      group.share.map { "ordinary threads get \($0) (cpu.max)" },
      group.memory.map { "\($0) bytes of memory (memory.max)" },
    ].compactMap(\.self)
    let cpus = group.cpus.map { ["CPUs \($0)"] } ?? []
    return Diagnosis(
      name: "control group", status: isForbidden ? .fail : group.share == nil && group.memory == nil ? .ok : .warn,
      found: limits.isEmpty ? (["no limits"] + cpus).joined(separator: ", ") : (limits + cpus).joined(separator: ", "),
      why: "a lane that has used its group's time up is stopped, locked memory beyond its limit ends the program",
      fix: isForbidden || group.share != nil || group.memory != nil
        ? "raise or remove the limits of the container or of the service (CPUQuota=, MemoryMax=)" : nil)
  }

  private func governor() -> Diagnosis {
    let folder = "/sys/devices/system/cpu"
    let governors = machine.list(folder).compactMap { machine.read("\(folder)/\($0)/cpufreq/scaling_governor") }
    let slow = Set(governors).subtracting(["performance"]).sorted()
    return Diagnosis(
      name: "CPU governor", status: slow.isEmpty ? .ok : .warn,
      found: governors.isEmpty ? "no frequency scaling" : Set(governors).sorted().joined(separator: ", "),
      why: "a CPU that has slowed down wakes up late and computes slowly until the governor notices",
      fix: slow.isEmpty
        ? nil : "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
  }

  private func isolation() -> Diagnosis {
    let isolated = machine.read("/sys/devices/system/cpu/isolated") ?? ""
    let last = lastCPU
    let ok = !isolated.isEmpty || last == 0
    return Diagnosis(
      name: "isolated CPUs", status: ok ? .ok : .warn,
      found: isolated.isEmpty ? (last == 0 ? "only one CPU" : "none") : isolated,
      why: "on a CPU of its own (runtime.NAME.cpu) a lane shares caches and interrupts with no other thread",
      fix: ok
        ? nil
        : "sudo \(DaemonProgram.current.name) setup pi --isolate \(last) && sudo reboot; without a Pi's boot files, the kernel's argument "
          + "isolcpus=\(last)")
  }

  private var lastCPU: Int {
    let online = machine.read("/sys/devices/system/cpu/online") ?? "0"
    return online.split(whereSeparator: { ",-".contains($0) }).last.flatMap { Int($0) } ?? 0
  }

  private func clockSource() -> Diagnosis {
    let folder = "/sys/devices/system/clocksource/clocksource0"
    let source = machine.read("\(folder)/current_clocksource")
    let available = machine.read("\(folder)/available_clocksource") ?? ""
    let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"]
    let ok = source.map { !slow.contains($0) } ?? false
    let better = available.split(separator: " ").map(String.init).first { !slow.contains($0) }
    return Diagnosis(
      name: "clock source", status: ok ? .ok : .warn, found: source ?? "unknown",
      why: "reading a slow clock source costs a system call and a microsecond or more in every tick",
      fix: ok ? nil : better.map { "echo \($0) | sudo tee \(folder)/current_clocksource" })
  }

  /// Checks for a weak power supply and overheating, which a Raspberry Pi reports; other hosts have no such file.
  private func supply() -> Diagnosis {
    let path = "/sys/devices/platform/soc/soc:firmware/get_throttled"
    let why = "the firmware slows the CPU down, in the middle of a tick too"
    guard let text = machine.read(path), let bits = Int(text, radix: 16) else {
      return Diagnosis(name: "power and heat", status: .ok, found: "not reported here", why: why, fix: nil)
    }
    // Bit n is set while the condition lasts, bit 16 + n if it has occurred since the boot.
    let names = ["under-voltage", "frequency capped", "throttled", "soft temperature limit"]
    let troubles = names.enumerated().compactMap { bit, name -> String? in
      if bits >> bit & 1 == 1 { return "\(name) now" }
      return bits >> (16 + bit) & 1 == 1 ? "\(name) since the boot" : nil
    }
    return Diagnosis(
      name: "power and heat", status: bits == 0 ? .ok : .warn,
      found: bits == 0
        ? "no throttling since boot"
        : (troubles.isEmpty ? "throttled" : troubles.joined(separator: ", ")) + " (0x\(String(bits, radix: 16)))",
      why: why,
      fix: bits == 0 ? nil : "vcgencmd get_throttled; use a stronger power supply and cooling, then reboot")
  }

  private func time() -> Diagnosis {
    let ok = machine.timeIsSynchronized == true
    return Diagnosis(
      name: "time-keeping", status: ok ? .ok : .warn,
      found: machine.timeIsSynchronized.map { $0 ? "synchronized" : "not synchronized" } ?? "not reported",
      why: "loops and failsafes use the monotonic clock and do not mind; log lines show the time of day",
      fix: ok ? nil : "sudo timedatectl set-ntp true")
  }
}

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

/// A sensor of the kernel that a system reads, with the key that names it.
struct PlannedSensor: Sendable, Equatable {
  var name: KernelSensorName
  var quantity: KernelQuantity
  var key: String
}

extension Doctor {
  /// Checks that the sensors of the kernel which declared systems read are there and measure what they should. None is read.
  func sensors(_ sensors: [PlannedSensor]) -> [Diagnosis] {
    let tree = KernelSensorTree(text: machine.read, names: machine.list, link: machine.link)
    return sensors.map { sensor in
      var found: String
      var isGood = false
      do throws(KernelSensorTree.Absence) {
        let place = try tree.find(sensor.name)
        isGood = place.quantity == sensor.quantity
        found = isGood ? place.file : "\(place.file) is a sensor of \(place.quantity), not of \(sensor.quantity)"
      } catch {
        found = "\(error)"
      }
      return Diagnosis(
        name: sensor.key, status: isGood ? .ok : .fail, found: found,
        why: "without it the system has no value, and does what it does then",
        fix: isGood
          ? nil : "\(DaemonProgram.current.name) scan sensor lists those that are there, as \(sensor.key) names them")
    }
  }
}

extension Doctor {
  /// Checks whether each receiver of the file can be reached and takes its login. Nothing is sent.
  func receivers() -> [Diagnosis] {
    guard machine.isThisOne, var notify = configuration?.notify else { return [] }
    let why = "whoever should be told is not told while it cannot be reached"
    do throws(ConfigError) {
      try notify.readSecrets()
    } catch {
      return [
        Diagnosis(
          name: "receivers", status: .fail, found: "\(error)", why: "the daemon does not start without it",
          fix: "write the secret into the file, readable for the daemon's account")
      ]
    }
    return notify.receivers.map { receiver in
      let outcome = NoticeSender(receiver: receiver).probe()
      var isReached = false
      if case .sent = outcome { isReached = true }
      return Diagnosis(
        name: "receiver \(receiver.name)", status: isReached ? .ok : .warn, found: outcome.words, why: why,
        fix: isReached
          ? nil : "mend its keys in notify.receivers, then: tactus notify test \(receiver.name) --config FILE")
    }
  }
}
