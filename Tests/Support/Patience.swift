import Foundation

/// How long a test waits, in milliseconds, for what must come: long enough for a machine under load, since only a defect
/// makes it pass.
public let patience: Int32 = 60_000

/// Waits until something is so; false after `patience`.
public func eventually(_ condition: () -> Bool) -> Bool {
  for _ in 0..<Int(patience) / 5 {
    if condition() { return true }
    Thread.sleep(forTimeInterval: 0.005)
  }
  return condition()
}
