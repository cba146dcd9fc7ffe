@_spi(FromOutside) import Conversions
import TactusDaemon

extension Doctor {
  /// Checks, without a configuration, whether a servo chip answers at its default address. Returns nothing if no bus could be tried.
  func servoChips() -> [Diagnosis] {
    let adapters = machine.list("/dev").filter { $0.hasPrefix("i2c-") && Int($0.dropFirst(4)) != nil }
    let answers = adapters.compactMap { name in machine.i2cAnswers("/dev/" + name, 0x40).map { (name, $0) } }
    guard !answers.isEmpty else { return [] }
    let found = answers.filter(\.1).map { "/dev/\($0.0)" }
    return [
      Diagnosis(
        name: "servo chip", status: .ok,
        found: found.isEmpty
          ? "nothing answers at 0x40, where a PCA9685 is" : "0x40 answers on \(found.joined(separator: ", "))",
        why: "legs hang on a PCA9685", fix: nil)
    ]
  }
}
