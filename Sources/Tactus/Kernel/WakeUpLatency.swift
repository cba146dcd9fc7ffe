import CTactus

/// The limit on how deeply CPUs may sleep while a runtime runs, given as the time that a CPU takes to wake up.
public enum WakeUpLatency: Sendable, Hashable {
  /// Limits the wake-up time to this many whole µs, 0 or more. The runtime holds `/dev/cpu_dma_latency` open with this value from
  /// `start()` to `stop()`. A limit of 0 keeps every CPU of the machine awake, which costs energy and heat; cyclictest measures
  /// with this limit.
  case held(Nanoseconds)
  /// Leaves the depth of sleep to the kernel's idle governor. Waking up from a deep sleep takes up to some hundred µs.
  case asTheKernelLikes
}

/// Whether the requested `WakeUpLatency` is in effect.
public enum WakeUpHold: Sendable, Hashable {
  /// No limit is held: none was requested, the runtime has no real-time lane, or it has not been started.
  case notRequested
  /// The kernel keeps the limit `effective`, which is lower than `requested` if another program requests less, or `nil` if the
  /// kernel does not report it.
  case held(requested: Nanoseconds, effective: Nanoseconds?)
  /// The device could not be opened or written, with the system call's error number.
  case refused(errno: Int32)

  /// The reason for a refusal with a remedy, or `nil` if the limit was not refused.
  public var refusal: String? {
    guard case .refused(let errno) = self else { return nil }
    let reason =
      switch errno {
      case 1, 13: "no privilege. Give the service's user write access to it by a udev rule"
      case 2, 6, 19: "this kernel or container has no such device"
      default: "errno \(errno)"
      }
    return "the CPUs' wake-up latency is not held, /dev/cpu_dma_latency: \(reason)"
  }

  /// Opens the device under `root`, which is empty except in tests, and writes the limit. The limit holds while the returned
  /// descriptor is open; −1 stands for no descriptor. Each runtime opens the device itself, since the kernel applies the lowest
  /// limit of all open descriptors.
  static func acquire(_ latency: WakeUpLatency, root: String) -> (hold: WakeUpHold, descriptor: Int32) {
    guard case .held(let limit) = latency else { return (.notRequested, -1) }
    var effective: Int32 = -1
    let descriptor = tactus_latency_hold(
      root + "/dev/cpu_dma_latency", Int32(clamping: limit.count / 1_000), &effective)
    guard descriptor >= 0 else { return (.refused(errno: -descriptor), -1) }
    return (
      .held(requested: limit, effective: effective < 0 ? nil : .microseconds(Int64(effective))), descriptor
    )
  }
}
