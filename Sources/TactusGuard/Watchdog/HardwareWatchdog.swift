import CTactusGuard
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// A hardware watchdog that a guard holds, such as `/dev/watchdog`. The watchdog resets the board unless it is fed within its timeout.
public struct HardwareWatchdog: Hashable, Sendable {
  /// The path of the device, such as `/dev/watchdog` or `/dev/watchdog1`.
  public var path: String
  /// The requested timeout in whole seconds, 1 or more. The driver decides; `GuardLink.watchdogTimeout` is the timeout in effect.
  public var timeoutSeconds: Int

  /// Creates a description of a watchdog from its path and the requested timeout.
  public init(path: String, timeoutSeconds: Int) { (self.path, self.timeoutSeconds) = (path, timeoutSeconds) }

  /// Returns the reason why the path cannot be that of a watchdog, without opening it, or `nil` if it is one or does not exist.
  public static func flaw(path: String) -> String? {
    switch tactus_watchdog_is(path) {
    case 0: "expected a watchdog, got something else"
    case -ENOTDIR: "expected a watchdog, and a part of the path is no folder"
    default: nil
    }
  }

  /// Returns whether there is a watchdog at the path.
  public static func isThere(_ path: String) -> Bool { tactus_watchdog_is(path) == 1 }

  /// Returns whether the kernel keeps the watchdog running once it is started (`nowayout`). The board is then reset after every end
  /// of the program, including an orderly one, unless the watchdog is fed within its timeout.
  public static func isUnstoppable(_ path: String) -> Bool { tactus_watchdog_is_unstoppable(path) == 1 }

  /// Returns a sentence for a log about why the watchdog could not be opened.
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

/// The operations of the guard on a watchdog's device. Tests have an implementation without hardware.
protocol WatchdogDevice: AnyObject {
  /// Opens the device, which starts the watchdog. Returns the timeout in effect, or the reason why the device could not be opened.
  func open() -> Result<Nanoseconds, WatchdogFailure>
  /// Feeds the watchdog. Returns the reason why that failed, or `nil` if it was fed.
  func feed() -> String?
  /// Stops the watchdog and closes the device. Returns the reason why the watchdog may continue to count, or `nil` if it has been stopped.
  func disarm() -> String?
}

struct WatchdogFailure: Error, Equatable {
  var reason: String
}

/// The kernel's watchdog device.
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
