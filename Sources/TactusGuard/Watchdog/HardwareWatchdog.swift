import CTactusGuard
import Glibc
import Tactus

/// A hardware watchdog that a guard holds: `/dev/watchdog`. It resets the board unless it is fed within its time-out.
public struct HardwareWatchdog: Hashable, Sendable {
  /// `/dev/watchdog`, `/dev/watchdog1`.
  public var path: String
  /// The time-out that is asked for, whole seconds, 1 or more. The driver decides: `GuardLink.watchdogTimeout` is in effect.
  public var timeoutSeconds: Int

  /// - Parameters: see the properties.
  public init(path: String, timeoutSeconds: Int) { (self.path, self.timeoutSeconds) = (path, timeoutSeconds) }

  /// Why the path cannot be a watchdog, without opening it, or `nil` if it is one, or if there is nothing at that path.
  public static func flaw(path: String) -> String? {
    switch tactus_watchdog_is(path) {
    case 0: "expected a watchdog, got something else"
    case -ENOTDIR: "expected a watchdog, and a part of the path is no folder"
    default: nil
    }
  }

  /// Whether there is a watchdog at the path.
  public static func isThere(_ path: String) -> Bool { tactus_watchdog_is(path) == 1 }

  /// Whether the kernel keeps it going once it is started (`nowayout`): the board is then reset after every end of the program, an orderly one
  /// included, unless it is fed within its timeout.
  public static func isUnstoppable(_ path: String) -> Bool { tactus_watchdog_is_unstoppable(path) == 1 }

  /// A sentence for a log: why it could not be opened.
  static func reason(errno: Int32, path: String) -> String {
    switch errno {
    case ENOTTY: "\(path): expected a watchdog, got something else"
    case EBUSY:
      "\(path): another process has it (systemd, if RuntimeWatchdogSec= is set), and a watchdog has one owner: leave it to "
        + "that one or to the guard"
    case EACCES, EPERM:
      "\(path): \(String(cString: strerror(errno))); a udev rule gives the device to the program's group: "
        + "KERNEL==\"watchdog*\", GROUP=\"tactus\", MODE=\"0660\""
    case ENOENT:
      "\(path): there is none; load its driver, or on a Raspberry Pi add dtparam=watchdog=on to config.txt"
    default: "\(path): \(String(cString: strerror(errno)))"
    }
  }
}

/// What the guard does to a watchdog's device. A test has one of its own.
protocol WatchdogDevice: AnyObject {
  /// Opens it, which starts it. Returns the time-out in effect, or why it cannot be.
  func open() -> Result<Nanoseconds, WatchdogFailure>
  /// Returns why it was not fed, or `nil` if it was.
  func feed() -> String?
  /// Stops it and closes it. Returns why it may go on counting, or `nil` if it has been stopped.
  func disarm() -> String?
}

struct WatchdogFailure: Error, Equatable {
  var reason: String
}

/// The kernel's.
final class LinuxWatchdog: WatchdogDevice {
  private let settings: HardwareWatchdog
  private var descriptor: Int32 = -1
  private var canBeDisarmed = false
  private var timeoutSeconds: Int32 = 0

  init(_ settings: HardwareWatchdog) { self.settings = settings }

  func open() -> Result<Nanoseconds, WatchdogFailure> {
    var opened = tactus_watchdog()
    let result = tactus_watchdog_open(settings.path, Int32(clamping: settings.timeoutSeconds), &opened)
    guard result >= 0 else {
      return .failure(WatchdogFailure(reason: HardwareWatchdog.reason(errno: -result, path: settings.path)))
    }
    descriptor = result
    canBeDisarmed = opened.can_be_disarmed != 0
    timeoutSeconds = opened.timeout_s
    return .success(.seconds(Double(opened.timeout_s)))
  }

  func feed() -> String? {
    let result = tactus_watchdog_feed(descriptor)
    return result == 0 ? nil : "\(settings.path): \(String(cString: strerror(-result)))"
  }

  func disarm() -> String? {
    defer { descriptor = -1 }
    let result = tactus_watchdog_disarm(descriptor)
    if result != 0 { return "\(settings.path): \(String(cString: strerror(-result)))" }
    guard !canBeDisarmed else { return nil }
    let why = HardwareWatchdog.isUnstoppable(settings.path) ? "nowayout" : "its driver has no magic close"
    return "\(settings.path): it cannot be stopped (\(why)), and resets the board within \(timeoutSeconds) s"
  }
}
