/// Adopted by a system for which `doctor` checks more than its resource claims, such as cameras or a program that it
/// starts.
public protocol Checks: DeviceSystem {
  /// Returns the findings on the machine. The function is also called without a configuration; `doctor.configuration`
  /// is `nil` then.
  static func diagnoses(_ doctor: Doctor) -> [Diagnosis]
}
