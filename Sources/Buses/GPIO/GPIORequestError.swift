/// Why lines could not be requested. Thrown at setup only, never in a tick.
///
/// The description says what was asked for, what is in the way and what to do about it.
public enum GPIORequestError: Error, Sendable, Hashable {
  /// No chip of that path or label.
  case noSuchChip(String)
  /// The user may not open the chip.
  case noPermission(path: String)
  /// Opened, but it is something else.
  case notAChip(path: String)
  /// `chip` is the chip that was searched, or `nil` if all were.
  case noSuchLine(GPIOLineName, chip: String?)
  /// Several chips have a line of that name.
  case ambiguous(GPIOLineName, chips: [String])
  /// The line is held by a program, a driver of the kernel's, or a device-tree overlay. Empty if its name is unknown.
  case claimed(GPIOLineName, consumer: String)
  /// One request is one chip's.
  case severalChips([String])
  /// Anything else the kernel says.
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
