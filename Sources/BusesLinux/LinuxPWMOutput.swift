import Buses
import CBusesLinux
import Tactus

/// One output of a PWM unit of the kernel, /sys/class/pwm/pwmchipC/pwmN.
///
/// The duty is zero from the start. When this object is released the duty is set to zero and the output is disabled, so the object
/// must be kept as long as its port. A write is one system call: a register access on a Raspberry Pi, or a bus transfer for chips behind a bus.
/// Source: Documentation/ABI/testing/sysfs-class-pwm.
public final class LinuxPWMOutput: Sendable {
  /// The path of the output, such as `/sys/class/pwm/pwmchip0/pwm0`.
  public let path: String
  /// The length of a period.
  public let period: Nanoseconds
  private let context: UnsafeContext

  /// A pointer to the descriptor of the duty, where the write function finds it.
  private struct UnsafeContext: @unchecked Sendable {  // safe: written before the port exists, read by its one loop
    let descriptor: UnsafeMutablePointer<Int32>
  }

  /// Exports output `channel` of `chip` unless it is exported already, disables it, sets its period and enables it with a duty of
  /// zero. Throws if another owner in this or another program has the output; nothing is written in that case.
  public init(chip: String, channel: Int, period: Nanoseconds) throws(BusOpenError) {
    precondition(channel >= 0 && period > .zero, "a PWM output has a number and a period")
    let path = "\(chip)/pwm\(channel)"
    self.path = path
    self.period = period
    try Self.export(path, chip: chip, channel: channel)
    let duty = try Self.open("\(path)/duty_cycle")
    guard !Mechanism.oneOwner.acts || tactus_pwm_claim(duty) == 0 else {
      tactus_close(duty)
      throw .outputInUse(path: path)
    }
    // The output is switched off first, since an earlier program may have left it on.
    let place = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    place.initialize(to: duty)
    context = UnsafeContext(descriptor: place)
    // A unit that was never set up has no period and refuses both writes (EINVAL). Its duty is 0 and it is off.
    _ = tactus_pwm_set(duty, 0)
    let isOff = tactus_pwm_store("\(path)/enable", "0\n")
    if isOff != -22 { try Self.check(isOff, "\(path)/enable") }
    // Not every unit can invert its output. On one that cannot, the write fails and the polarity is normal anyway.
    _ = tactus_pwm_store("\(path)/polarity", "normal\n")
    try Self.store("\(period.count)", in: "\(path)/period")
    try Self.check(tactus_pwm_set(duty, 0), "\(path)/duty_cycle")
    try Self.store("1", in: "\(path)/enable")
  }

  deinit {
    _ = tactus_pwm_set(context.descriptor.pointee, 0)
    _ = tactus_pwm_store("\(path)/enable", "0\n")
    tactus_close(context.descriptor.pointee)
    context.descriptor.deallocate()
  }

  /// Returns the output for the one loop that owns it.
  public func port() -> PWMOutput { PWMOutput(context: context.descriptor, period: period, write: setDuty) }

  private static func export(_ path: String, chip: String, channel: Int) throws(BusOpenError) {
    guard !isThere(path) else { return }
    let result = tactus_pwm_store("\(chip)/export", "\(channel)\n")
    switch -result {
    case 0: break
    case 16: throw .system(what: "\(path): a driver of the kernel has this output", errno: 16)  // EBUSY
    // ENODEV, EINVAL and ERANGE mean that the chip has no such output.
    case 19, 22, 34: throw .system(what: "\(chip): it has no output \(channel)", errno: -result)
    default: throw BusOpenError.Device.pwmUnit.openError(path: "\(chip)/export", errno: -result)
    }
    try waitForPermission(path)
  }

  /// Waits until the new files may be written. udev assigns them to their group a moment after they have appeared.
  private static func waitForPermission(_ path: String) throws(BusOpenError) {
    guard let bell = try? Doorbell() else { return }
    let end = MonotonicClock.now + .seconds(1)
    while true {
      let descriptor = tactus_pwm_open("\(path)/enable")
      if descriptor >= 0 {
        tactus_close(descriptor)
        return
      }
      guard MonotonicClock.now < end else {
        throw BusOpenError.Device.pwmUnit.openError(path: path, errno: -descriptor)
      }
      // No thread rings the bell, so the wait ends by its limit.
      bell.wait(limit: .milliseconds(10))
    }
  }

  private static func isThere(_ path: String) -> Bool {
    let descriptor = tactus_pwm_open("\(path)/duty_cycle")
    guard descriptor >= 0 else { return descriptor != -2 }  // ENOENT
    tactus_close(descriptor)
    return true
  }

  private static func open(_ path: String) throws(BusOpenError) -> Int32 {
    let descriptor = tactus_pwm_open(path)
    guard descriptor >= 0 else { throw BusOpenError.Device.pwmUnit.openError(path: path, errno: -descriptor) }
    return descriptor
  }

  private static func store(_ text: String, in path: String) throws(BusOpenError) {
    try check(tactus_pwm_store(path, text + "\n"), path)
  }

  private static func check(_ result: Int32, _ path: String) throws(BusOpenError) {
    guard result < 0 else { return }
    throw BusOpenError.Device.pwmUnit.openError(path: path, errno: -result)
  }
}

@_noLocks @_noAllocation
private func setDuty(_ context: UnsafeMutableRawPointer, _ active: Int64, _ now: Int64) -> Int32 {
  tactus_pwm_set(context.load(as: Int32.self), active)
}

/// A second hold of a PWM output, which the guard uses only to turn the output off.
public final class LinuxPWMShutdown: Sendable {
  /// The path of the output: `/sys/class/pwm/pwmchip0/pwm0`.
  public let path: String
  private let duty: Int32
  private let enable: Int32

  /// Opens an output that has been exported, such as `/sys/class/pwm/pwmchip0/pwm0`. Changes nothing.
  public init(path: String) throws(BusOpenError) {
    self.path = path
    duty = tactus_pwm_open("\(path)/duty_cycle")
    guard duty >= 0 else { throw BusOpenError.Device.pwmUnit.openError(path: path, errno: -duty) }
    enable = tactus_pwm_open("\(path)/enable")
    guard enable >= 0 else {
      tactus_close(duty)
      throw BusOpenError.Device.pwmUnit.openError(path: path, errno: -enable)
    }
  }

  deinit {
    tactus_close(duty)
    tactus_close(enable)
  }

  /// Sets the duty to zero and reads it back; if that fails, disables the output. Returns `nil` if this succeeded, otherwise the
  /// reason why it failed.
  ///
  /// With a duty of zero the output stays enabled, so that its owner can continue if it was only late.
  public func turnOff() -> String? {
    var active: Int64 = 0
    let written = tactus_pwm_set(duty, 0)
    let read = tactus_pwm_get(duty, &active)
    if written == 0, read == 0, active == 0 { return nil }
    var isEnabled: Int64 = 1
    if tactus_pwm_set(enable, 0) == 0, tactus_pwm_get(enable, &isEnabled) == 0, isEnabled == 0 { return nil }
    return written < 0 ? errorText(-written) : read < 0 ? errorText(-read) : "it still shows a duty of \(active) ns"
  }
}
