import Buses
import BusesLinux
import TactusGuard
import Yams

/// A file of outputs and their safe states, for a guard of any program:
///
///     outputs:
///       - {i2c: /dev/i2c-1, address: 0x40, register: 0xFD, bytes: [0x10]}   # without a register: plain bytes
///       - {gpio: /dev/gpiochip0, lines: [17, 27], active_low: true, safe: inactive}
///       - {serial: /dev/ttyAMA0, baud: 115200, bytes: [0x55, 0x00]}         # or text: "M5\n"
///       - {pwm: /sys/class/pwm/pwmchip0/pwm0}
///       - {command: [/usr/bin/off, --all]}
struct GuardOutputsFile {
  /// The greatest number of outputs in a file.
  static let most = 64
  /// The greatest number of bytes for a serial line.
  static let mostBytes = 1024

  private var reader: FieldReader

  private static let kinds = ["i2c", "gpio", "serial", "pwm", "command"]
  private static let more: [String: [String]] = [
    "i2c": ["address", "register", "bytes"], "gpio": ["lines", "active_low", "safe"],
    "serial": ["baud", "bytes", "text"], "pwm": [], "command": [],
  ]

  /// Reads the writes of a file in their order. Throws all errors of the file as one `ConfigErrors`.
  static func read(path: String) throws -> [SafeStateWrite] { try read(YAMLFile(path: path)) }

  static func read(_ file: YAMLFile) throws -> [SafeStateWrite] {
    var reading = Self(reader: FieldReader(file))
    var writes: [SafeStateWrite] = []
    if let root = file.root {
      if let fields = reading.reader.fields(root, "", known: ["outputs"]) {
        let node = fields.nodes["outputs"]
        let items = reading.reader.items(node, "outputs")
        if !(1...most).contains(items.count) {
          reading.reader.report(node ?? root, "outputs", "expected a list of 1…\(most) outputs, got \(items.count)")
        }
        for (index, item) in items.prefix(most).enumerated() {
          guard let write = reading.write(item, "outputs[\(index)]") else { continue }
          if let other = writes.first(where: { $0.excludes(write) }) {
            reading.reader.report(
              item, "outputs[\(index)]", "expected one kind and rate for each path, got \(write) beside \(other)")
          }
          writes.append(write)
        }
      }
    } else if file.errors.isEmpty {
      throw ConfigErrors(errors: [ConfigError(file: file.name, key: "", message: "expected outputs, got an empty file")]
      )
    }
    guard reading.reader.errors.isEmpty else { throw ConfigErrors(errors: reading.reader.errors) }
    return writes
  }

  /// Returns the write of one item, or `nil` if the item has an error, which is reported.
  private mutating func write(_ node: Node, _ path: String) -> SafeStateWrite? {
    let given = node.mapping?.compactMap { $0.key.scalar?.string } ?? []
    let kinds = given.filter { Self.kinds.contains($0) }
    guard kinds.count == 1, let kind = kinds.first else {
      let got =
        node.mapping == nil ? FieldReader.describe(node) : kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
      reader.report(node, path, "expected a mapping with one of \(Self.kinds.joined(separator: ", ")), got \(got)")
      return nil
    }
    let before = reader.errors.count
    guard let fields = reader.fields(node, path, known: [kind] + (Self.more[kind] ?? [])),
      let device = fields.nodes[kind]
    else { return nil }
    let write: SafeStateWrite? =
      switch kind {
      case "i2c": i2c(fields, device, path)
      case "gpio": gpio(fields, device, path)
      case "serial": serial(fields, device, path)
      case "pwm": reader.text(device, "\(path).pwm").map { .pwm(path: $0) }
      default: texts(device, "\(path).command").map { .program($0) }
      }
    guard reader.errors.count == before, let write else { return nil }
    if let flaw = write.flaw {
      reader.report(node, path, "expected a write that is possible, got \(write): \(flaw)")
      return nil
    }
    return write
  }

  private mutating func i2c(_ fields: FieldReader.Fields, _ device: Node, _ path: String) -> SafeStateWrite? {
    let bus = reader.text(device, "\(path).i2c")
    let address = required("address", fields, path).flatMap { reader.integer($0, "\(path).address", 0x08...0x77) }
    let bytes = required("bytes", fields, path).flatMap {
      numbers($0, "\(path).bytes", 0...255, most: I2CBytes.capacity)
    }
    let register = fields.nodes["register"].map { reader.integer($0, "\(path).register", 0...255) }
    guard let bus, let address, let bytes else { return nil }
    let (place, values) = (UInt8(clamping: address), bytes.map { UInt8(clamping: $0) })
    switch register {
    case nil: return .i2cPlain(path: bus, address: place, bytes: values)
    case .some(nil): return nil
    case .some(let register?):
      let register = UInt8(clamping: register)
      return values.count == 1
        ? .i2cByte(path: bus, address: place, register: register, byte: values[0])
        : .i2cBlock(path: bus, address: place, register: register, bytes: values)
    }
  }

  private mutating func gpio(_ fields: FieldReader.Fields, _ device: Node, _ path: String) -> SafeStateWrite? {
    let chip = reader.text(device, "\(path).gpio")
    let lines = required("lines", fields, path).flatMap { numbers($0, "\(path).lines", 0...1023, most: 64) }
    var isActiveLow = false
    if let node = fields.nodes["active_low"],
      case .boolean(let value)? = reader.value(node, "\(path).active_low", .boolean)
    {
      isActiveLow = value
    }
    let safe = fields.nodes["safe"].flatMap { reader.word($0, "\(path).safe", ["inactive", "active"]) }
    guard let chip, let lines else { return nil }
    return .gpio(
      path: chip, lines: lines.map { .init(offset: $0, isActiveLow: isActiveLow, isActive: safe == "active") },
      descriptor: nil)
  }

  private mutating func serial(_ fields: FieldReader.Fields, _ device: Node, _ path: String) -> SafeStateWrite? {
    let line = reader.text(device, "\(path).serial")
    let baud = required("baud", fields, path).flatMap { reader.integer($0, "\(path).baud", 1...10_000_000) }
    let bytes: [UInt8]?
    switch (fields.nodes["bytes"], fields.nodes["text"]) {
    case (let node?, nil):
      bytes = numbers(node, "\(path).bytes", 0...255, most: Self.mostBytes)?.map { UInt8(clamping: $0) }
    case (nil, let node?):
      let text = reader.text(node, "\(path).text").map { Array($0.utf8) }
      if let text, text.count > Self.mostBytes {
        reader.report(node, "\(path).text", "expected at most \(Self.mostBytes) bytes, got \(text.count)")
      }
      bytes = text
    default:
      reader.report(
        fields.node, path, "expected either bytes or text, got \(fields.nodes["bytes"] == nil ? "neither" : "both")")
      bytes = nil
    }
    guard let line, let baud, let bytes else { return nil }
    return .serial(path: line, baud: baud, bytes: bytes)
  }

  private mutating func required(_ name: String, _ fields: FieldReader.Fields, _ path: String) -> Node? {
    if let node = fields.nodes[name] { return node }
    reader.report(fields.node, "\(path).\(name)", "expected \(name), got none")
    return nil
  }

  private mutating func numbers(_ node: Node, _ path: String, _ range: ClosedRange<Int>, most: Int) -> [Int]? {
    let items = node.sequence.map(Array.init) ?? [node]
    guard (1...most).contains(items.count) else {
      reader.report(node, path, "expected 1…\(most) numbers, got \(items.count)")
      return nil
    }
    let values = items.enumerated().map { reader.integer($1, "\(path)[\($0)]", range) }
    return values.contains(nil) ? nil : values.compactMap(\.self)
  }

  private mutating func texts(_ node: Node, _ path: String) -> [String]? {
    let items = node.sequence.map(Array.init) ?? [node]
    guard (1...64).contains(items.count) else {
      reader.report(node, path, "expected a program and its arguments, 1…64 texts, got \(items.count)")
      return nil
    }
    // An argument may be empty.
    return items.enumerated().compactMap { index, item in
      index > 0 && item.scalar != nil ? item.scalar?.string : reader.text(item, "\(path)[\(index)]")
    }
  }
}

extension SafeStateWrite {
  /// Returns whether both name the same path as different kinds of device or with different baud rates, which is not
  /// possible, since the guard opens a path once.
  fileprivate func excludes(_ other: SafeStateWrite) -> Bool { path != nil && path == other.path && kind != other.kind }

  private var path: String? {
    switch self {
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .i2cPlain(let path, _, _), .serial(let path, _, _),
      .gpio(let path, _, _), .pwm(let path):
      path
    case .program, .custom: nil
    }
  }

  private var kind: String {
    switch self {
    case .i2cByte, .i2cBlock, .i2cPlain: "i2c"
    case .serial(_, let baud, _): "serial at \(baud)"
    case .gpio: "gpio"
    case .pwm: "pwm"
    case .program, .custom: "program"
    }
  }
}
