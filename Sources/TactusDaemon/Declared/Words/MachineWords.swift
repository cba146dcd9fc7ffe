import AvahiSystemd
import BluetoothBlueZ
import TactusGuard

/// A protocol for a system that needs access to more of the machine than its bench opens and its keys name. A confined
/// daemon has no other access.
public protocol Reaches: DeviceSystem {
  /// Returns the access that the system needs with a valid file.
  static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach
  /// Returns the services to announce on the local network while the program's service runs, besides that service; none by default.
  ///
  /// - Parameters:
  ///   - host: the host name without a domain.
  ///   - port: the port of the program's service, 1 to 65535.
  ///   - hasTLS: whether the program's service accepts only HTTPS.
  static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService]
  /// The functions that open an output in the guard's process whose safe state needs writes that the guard cannot do by itself, for example over a radio;
  /// by the names of the custom writes, none by default.
  static var guardOutputs: [String: (String) throws -> any GuardOutput] { get }
}

/// The access to the machine that a system needs besides its ports, and besides the files, folders and machines that its
/// keys name (`ConfigKind.file`, `.folder` and `.host`).
public struct Reach: Sendable {
  /// The user groups whose members may open the system's devices, besides those of buses and lines.
  var deviceGroups: [String]
  /// Whether the system resolves host names that no key gives.
  var looksUpNames: Bool

  /// Creates a description of the access.
  ///
  /// - Parameters:
  ///   - deviceGroups: the user groups whose members may open the system's devices, besides those of buses and lines.
  ///   - looksUpNames: whether the system resolves host names that no key gives.
  public init(deviceGroups: [String] = [], looksUpNames: Bool = false) {
    (self.deviceGroups, self.looksUpNames) = (deviceGroups, looksUpNames)
  }
}

extension Reaches {
  /// Returns no services: the program's service alone is announced.
  public static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
  /// An empty dictionary, because the guard does every write by itself.
  public static var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }

  static func reached(_ wiring: Any, _ rules: Any) -> Reach {
    // The values are this system's, passed without their types.
    reach(wiring as! Wiring, rules as! Rules)
  }
}

/// A protocol for a system for which `doctor` checks more than its resource claims, such as cameras or a program that
/// it starts.
public protocol Checks: DeviceSystem {
  /// Returns the findings on the machine. The function is also called without a configuration; `doctor.configuration`
  /// is `nil` then.
  static func diagnoses(_ doctor: Doctor) -> [Diagnosis]
}

/// A protocol for a system that knows devices which `tactus scan` would not find or name without it.
public protocol FindsDevices: DeviceSystem {
  /// Returns the devices of a kind that the system finds on a machine, in place of those that the program would find,
  /// or `nil` if the system has no search of its own. Blocks for at most 10 s. If the machine is not the running one,
  /// only its files may be read.
  static func found(_ kind: ScanKind, on machine: Machine) -> ScanReport?
  /// The names of devices by the Bluetooth service that they advertise, for devices that no key names.
  static var bluetoothPeers: [BluetoothUUID: String] { get }
}

extension FindsDevices {
  /// Returns `nil`: the system has no search of its own.
  public static func found(_ kind: ScanKind, on machine: Machine) -> ScanReport? { nil }
  /// An empty dictionary, because the system names no devices.
  public static var bluetoothPeers: [BluetoothUUID: String] { [:] }
}
