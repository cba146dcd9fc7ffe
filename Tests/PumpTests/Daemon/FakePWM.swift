import DaemonSupport
import Foundation

/// A PWM unit as the kernel shows one, made of plain files: what was written last is a file's first line.
struct FakePWM {
  /// For `pump.pwm.chip`.
  let chip: String
  private var output: String { chip + "/pwm0" }

  /// In `folder`, its output exported, running and inverted, as another program may have left it.
  init(in folder: TemporaryFolder) throws {
    chip = folder.path("pwmchip0")
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    for (name, text) in [
      ("npwm", "2"), ("export", ""), ("pwm0/period", "20000"), ("pwm0/duty_cycle", "15000"), ("pwm0/enable", "1"),
      ("pwm0/polarity", "inversed"),
    ] {
      try "\(text)\n".write(toFile: "\(chip)/\(name)", atomically: false, encoding: .utf8)
    }
  }

  /// nil: it is no number.
  func value(_ name: String) -> Int? {
    let text = try? String(contentsOfFile: "\(output)/\(name)", encoding: .utf8)
    return text?.split(separator: "\n").first.flatMap { Int($0) }
  }

  var duty: Int? { value("duty_cycle") }
  var isEnabled: Bool { value("enable") == 1 }

  /// Waits until the files fulfil `condition`; false: nothing has changed them for a minute.
  func wait(for condition: (FakePWM) -> Bool) -> Bool {
    let watch = inotify_init1(0)
    defer { close(watch) }
    guard watch >= 0, inotify_add_watch(watch, output, UInt32(IN_MODIFY)) >= 0 else { return false }
    while !condition(self) {
      guard readWhenReady(watch) != nil else { return false }
    }
    return true
  }
}
