/// Adopted by a system with more for `doctor` to look at than its claims: cameras, a program that it starts.
public protocol Checks: DeviceSystem {
  /// What is found on this machine. Called without a configuration too: `doctor.configuration` is `nil` then.
  static func diagnoses(_ doctor: Doctor) -> [Diagnosis]
}
