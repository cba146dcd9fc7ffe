/// The reason why lines could not be requested. The error is thrown at setup only, never in a tick.
///
/// The description states what was requested, what prevents it and how to remedy that.
public enum GPIORequestError: Error, Sendable, Hashable {
  /// There is no chip with that path or label.
  case noSuchChip(String)
  /// The user may not open the chip.
  case noPermission(path: String)
  /// The path was opened and is not a GPIO chip.
  case notAChip(path: String)
  /// No line has this name. `chip` is the chip that was searched, or `nil` if all were searched.
  case noSuchLine(GPIOLineName, chip: String?)
  /// Several chips have a line of this name.
  case ambiguous(GPIOLineName, chips: [String])
  /// The line is held by a program, a kernel driver or a device-tree overlay. `consumer` is the name of the holder, or empty if it is unknown.
  case claimed(GPIOLineName, consumer: String)
  /// The lines are on several chips, but one request can have lines of only one chip.
  case severalChips([String])
  /// The kernel reported another error.
  case system(what: String, errno: Int32)
}

extension GPIORequestError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSuchChip(let chip):
      "GPIO chip \(chip): expected a path or a label of a chip, found none; gpiodetect lists what is there"
    case .noPermission(let path):
      "\(path): expected to read and write it, permission denied; add the user to group gpio (sudo usermod -aG gpio"
        + " USER) and log in again"
    case .notAChip(let path): "\(path): expected a GPIO chip, found something else; gpiodetect lists the chips"
    case .noSuchLine(let line, let chip):
      "GPIO line \(line): \(chip.map { "\($0) has no such line" } ?? "no chip has a line of that name"); gpioinfo lists"
        + " them"
    case .ambiguous(let line, let chips):
      "GPIO line \(line): \(chips.joined(separator: " and ")) have a line of that name; write CHIP:OFFSET"
    case .claimed(let line, let consumer):
      "GPIO line \(line): in use by \(consumer.isEmpty ? "a program without a name" : consumer); free it (stop the"
        + " program, or remove the overlay) or use another line"
    case .severalChips(let chips):
      "GPIO lines on \(chips.joined(separator: " and ")): lines requested together are on one chip"
    case .system(let what, let errno): "\(what): errno \(errno)"
    }
  }
}
