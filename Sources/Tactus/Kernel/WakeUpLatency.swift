import CTactus

/// How deep a CPU may sleep while a runtime runs, by the time that it takes to wake up.
public enum WakeUpLatency: Sendable, Hashable {
  /// At most this time, in whole µs, 0 or more: the runtime holds `/dev/cpu_dma_latency` open at it from `start()` to
  /// `stop()`. 0 keeps every CPU of the machine awake, which costs energy and heat, and is what cyclictest measures with.
  case held(Nanoseconds)
  /// As the kernel's idle governor thinks best: a deep sleep takes up to some hundred µs to wake from.
  case asTheKernelLikes
}

/// What became of a `WakeUpLatency`.
public enum WakeUpHold: Sendable, Hashable {
  /// The runtime leaves it to the kernel, has no real-time lane, or has not been started.
  case notRequested
  /// The kernel holds itself to `effective`, which is less than what was requested if another program asks for less; `nil`
  /// if it does not say.
  case held(requested: Nanoseconds, effective: Nanoseconds?)
  /// The device could not be opened or written, with the system call's error number.
  case refused(errno: Int32)

  /// Why it was refused, with the way out, or `nil` if it was not.
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

  /// Opens the device under `root`, which is empty but in tests. The descriptor holds it; −1 if nothing does. Every runtime
  /// has one of its own: the kernel takes the least of all that are open.
  static func take(_ latency: WakeUpLatency, root: String) -> (hold: WakeUpHold, descriptor: Int32) {
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
