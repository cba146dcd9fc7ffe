/// Adopted by a system whose file says in which time zone it lives, such as one with schedules by the time of day. The page shows every
/// time of day by that zone.
public protocol KeepsTime: DeviceSystem {
  /// Returns an IANA time zone such as `Europe/Berlin`, or `nil` if the file names none and the system goes by the machine's.
  static func timeZone(_ wiring: Wiring) -> String?
}

extension KeepsTime {
  /// Returns the time zone of a wiring whose type only the system knows.
  static func zone(_ wiring: Any) -> String? { timeZone(wiring as! Wiring) }
}
