import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// A GPIO chip of the kernel, /dev/gpiochipN. It is for setup only, never in a tick.
public final class LinuxGPIOChip: Sendable {
  /// The kernel's information about a line.
  public struct Line: Sendable, Hashable {
    /// The number of the line on the chip, from 0.
    public var offset: Int
    /// The name of the line in the device tree, which may be empty.
    public var name: String
    /// Whether the line is in use, by a program, a kernel driver or an overlay.
    public var isUsed: Bool
    /// The name of the line's user, which is empty if the user gives none.
    public var consumer: String
    /// Whether the line is an output.
    public var isOutput: Bool
    /// Whether the line is active at its low level, as its user requested.
    public var isActiveLow: Bool
  }

  /// The labels of the chips behind a Raspberry Pi's 40-pin header: up to model 3, model 4 and CM4, model 5 and CM5.
  public static let headerLabels = ["pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1"]

  /// The path of the chip, /dev/gpiochipN.
  public let path: String
  /// The name that the kernel gives the chip, such as `gpiochip0`. It differs between models and kernels.
  public let name: String
  /// The label that the driver gives the chip, such as `pinctrl-bcm2711`. It is the same on every board with this chip.
  public let label: String
  /// The number of lines of the chip.
  public let lineCount: Int
  let descriptor: Int32

  /// Opens a chip by the path of its device file.
  ///
  /// - Throws: `.noSuchChip`, `.noPermission`, `.notAChip`, or `.system` with another error of the kernel.
  public init(path: String) throws(GPIORequestError) {
    let descriptor = tactus_gpio_open(path)
    var info = tactus_gpio_chip()
    let result = descriptor < 0 ? descriptor : tactus_gpio_chip(descriptor, &info)
    guard result >= 0 else {
      if descriptor >= 0 { tactus_close(descriptor) }
      throw Self.error(path, errno: -result)
    }
    self.path = path
    self.descriptor = descriptor
    name = text(info.name)
    label = text(info.label)
    lineCount = Int(info.lines)
  }

  deinit { tactus_close(descriptor) }

  /// Returns every chip that can be opened, each once, in the order of their numbers. `folder` contains their device files. Throws
  /// if there are device files and none may be opened.
  public static func all(in folder: String = "/dev") throws(GPIORequestError) -> [LinuxGPIOChip] {
    var chips: [LinuxGPIOChip] = []
    var failure: GPIORequestError?
    for number in chipNumbers(in: folder) {
      do {
        let chip = try LinuxGPIOChip(path: "\(folder)/gpiochip\(number)")
        // Some systems link a second number to a chip.
        if !chips.contains(where: { $0.name == chip.name }) { chips.append(chip) }
      } catch {
        failure = error
      }
    }
    if chips.isEmpty, let failure { throw failure }
    return chips
  }

  private static func chipNumbers(in folder: String) -> [Int] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var numbers: [Int] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix("gpiochip"), let number = Int(name.dropFirst(8)) { numbers.append(number) }
    }
    return numbers.sorted()
  }

  /// Returns the line at `offset`, counted from 0, or `nil` if the offset is beyond the last line.
  public func line(_ offset: Int) throws(GPIORequestError) -> Line? {
    guard (0..<lineCount).contains(offset) else { return nil }
    var info = tactus_gpio_line()
    let result = tactus_gpio_line(descriptor, UInt32(clamping: offset), &info)
    guard result >= 0 else { throw Self.error("\(path), line \(offset)", errno: -result) }
    return Line(
      offset: offset, name: text(info.name), isUsed: info.is_used != 0, consumer: text(info.consumer),
      isOutput: info.is_output != 0, isActiveLow: info.is_active_low != 0)
  }

  /// Returns every line of the chip, in the order of their offsets.
  public func lines() throws(GPIORequestError) -> [Line] {
    var lines: [Line] = []
    for offset in 0..<lineCount {
      if let line = try line(offset) { lines.append(line) }
    }
    return lines
  }

  /// Returns whether the chip in a `CHIP:OFFSET`, named by path, number or label, is the present chip.
  func isCalled(_ text: String) -> Bool { text == path || text == name || text == label || text == "/dev/" + name }

  static func error(_ what: String, errno: Int32) -> GPIORequestError {
    switch errno {
    case 2, 6, 19, 20: .noSuchChip(what)  // ENOENT, ENXIO, ENODEV, ENOTDIR
    case 1, 13: .noPermission(path: what)  // EPERM, EACCES
    case 21, 22, 25: .notAChip(path: what)  // EISDIR, EINVAL, ENOTTY
    default: .system(what: what, errno: errno)
    }
  }
}

/// Lines of one chip that were found by their names and are free.
struct LinuxGPIOSelection {
  let chip: LinuxGPIOChip
  let names: [GPIOLineName]
  let offsets: [UInt32]

  /// Searches every chip for every line. If several chips have a line of the same name, the chip of the 40-pin header is chosen if it is one of them.
  init(_ names: [GPIOLineName], among chips: [LinuxGPIOChip]) throws(GPIORequestError) {
    precondition((1...GPIOLines.maximumCount).contains(names.count), "1…64 lines are requested together")
    var found: [(chip: LinuxGPIOChip, line: LinuxGPIOChip.Line)] = []
    for name in names { found.append(try Self.find(name, among: chips)) }
    let chipNames = Set(found.map(\.chip.name))
    guard chipNames.count == 1 else { throw .severalChips(chipNames.sorted()) }
    let offsets = found.map(\.line.offset)
    precondition(Set(offsets).count == offsets.count, "a line is requested once")
    for (index, (_, line)) in found.enumerated() where line.isUsed {
      throw .claimed(names[index], consumer: line.consumer)
    }
    chip = found[0].chip
    self.names = names
    self.offsets = offsets.map { UInt32(clamping: $0) }
  }

  private static func find(
    _ name: GPIOLineName, among chips: [LinuxGPIOChip]
  ) throws(GPIORequestError) -> (chip: LinuxGPIOChip, line: LinuxGPIOChip.Line) {
    switch name.place {
    case .offset(let offset, let wanted):
      guard let chip = chips.first(where: { $0.isCalled(wanted) }) else { throw .noSuchChip(wanted) }
      guard let line = try chip.line(offset) else { throw .noSuchLine(name, chip: chip.name) }
      return (chip, line)
    case .name(let wanted):
      var found: [(chip: LinuxGPIOChip, line: LinuxGPIOChip.Line)] = []
      for chip in chips {
        if let line = try chip.lines().first(where: { $0.name == wanted }) { found.append((chip, line)) }
      }
      let header = found.filter { LinuxGPIOChip.headerLabels.contains($0.chip.label) }
      if header.count == 1 { return header[0] }
      guard let only = found.first else { throw .noSuchLine(name, chip: nil) }
      guard found.count == 1 else { throw .ambiguous(name, chips: found.map(\.chip.name)) }
      return only
    }
  }

  /// Returns the reason why the kernel refused the request. Most likely a line was taken by another program after the search.
  func refusal(errno: Int32) -> GPIORequestError {
    guard errno == 16 else {  // EBUSY
      return .system(what: "GPIO lines \(names.map(\.description).joined(separator: ", "))", errno: errno)
    }
    for (index, offset) in offsets.enumerated() {
      if let line = try? chip.line(Int(offset)), line.isUsed {
        return .claimed(names[index], consumer: line.consumer)
      }
    }
    return .claimed(names[0], consumer: "")
  }
}

/// Returns the text in a fixed array of C characters, up to its terminating zero.
private func text<Characters>(_ characters: Characters) -> String {
  withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
