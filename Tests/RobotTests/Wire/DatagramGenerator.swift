import Tactus
import WireSupport

/// Seeded robot datagrams: valid ones, structure-aware mutations of them, and raw bytes.
struct DatagramGenerator {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func next() -> [UInt8] {
    switch random.below(20) {
    case 0: return raw()
    case 1...8: return valid()
    default: return mutated(valid(), &random)
    }
  }

  private mutating func raw() -> [UInt8] {
    let count = random.chance(5) ? 1000 + random.below(60) : random.below(48)
    let isText = random.chance(70)
    let letters = Array(#"{}[]",:\0123456789.-+eE truefalsn"#.utf8)
    return (0..<count).map { _ in isText ? random.pick(letters) : UInt8(truncatingIfNeeded: random.next()) }
  }

  private mutating func valid() -> [UInt8] { Array((random.chance(25) ? csv() : json()).utf8) }

  // MARK: CSV

  private mutating func csv() -> String {
    var left = csvNumber()
    let right = csvNumber()
    if random.chance(30) { left = right }
    var fields = [left, right]
    if random.chance(70) { fields.append(random.pick(["0", "1", "2", "2", "1", "3", "10", "", "1.0", "left"])) }
    if random.chance(2) { fields.append("0") }
    return fields.map { space() + $0 + space() }.joined(separator: ",")
  }

  private mutating func csvNumber() -> String {
    let sign = random.pick(["", "", "-", "-", "+"])
    let fraction = random.chance(40) ? "." + digits(1 + random.below(random.chance(5) ? 80 : 6)) : ""
    return sign + digits(1 + random.below(random.chance(2) ? 400 : 3)) + fraction
  }

  // MARK: JSON

  private mutating func json() -> String {
    var members: [String] = []
    let known = ["left", "right", "timestamp", "echo", "command", "speed", "direction", "linear", "angular"]
    let isInSI = random.chance(25)
    for key in known {
      let usual = isInSI ? ["linear", "angular"] : ["left", "right"]
      let seldom = ["left", "right", "linear", "angular"].contains(key) ? 4 : 25
      guard random.chance(usual.contains(key) ? 75 : seldom) else { continue }
      members.append(member(key, value(for: key)))
    }
    while random.chance(20) { members.append(member(random.pick(known), value(depth: 1))) }
    while random.chance(20) {
      members.append(member(random.pick(["seq", "Left", "", "x\\n", "é", "lef"]), value(depth: 1)))
    }
    members.shuffle(using: &random)
    return space() + "{" + members.joined(separator: ",") + "}" + space()
  }

  private mutating func member(_ key: String, _ value: String) -> String {
    var name = key
    if random.chance(10) {
      let escapeAt = random.below(max(1, key.utf8.count))
      name = key.utf8.enumerated().map { at, byte in
        guard at == escapeAt, byte < 0x80, byte != 0x5C else { return String(decoding: [byte], as: UTF8.self) }
        let code = String(byte, radix: 16, uppercase: random.chance(50))
        return "\\u" + String(repeating: "0", count: 4 - code.count) + code
      }.joined()
    }
    return space() + "\"" + name + "\"" + space() + ":" + space() + value + space()
  }

  private mutating func value(for key: String) -> String {
    if random.chance(4) { return value(depth: 1) }
    if random.chance(2) { return "null" }
    switch key {
    case "timestamp": return timestamp()
    case "echo": return echo()
    case "command": return "\"" + command() + "\""
    default: return random.chance(70) ? speed() : number()
    }
  }

  private mutating func speed() -> String {
    let magnitude = random.pick([
      "0", "30", "99.9", "100", "100.0000000000000001", "101", "1e2", "1e-3", "0.5", "12.25",
    ])
    return random.pick(["", "-"]) + magnitude
  }

  private mutating func timestamp() -> String {
    switch random.below(6) {
    case 0: return String(1_763_702_470 + random.below(100))
    case 1: return String(1_763_702_470_000 + random.below(100_000))
    case 2: return random.pick(["1e12", "1000000000000.5", "1e13", "999999999999.9999", "-1e13", "1e400"])
    case 3: return preciseNumber()
    default: return String(1_763_702_470 + random.below(100)) + "." + digits(1 + random.below(12))
    }
  }

  private mutating func echo() -> String {
    switch random.below(4) {
    case 0:
      return random.pick([
        "0", "-0", "-1", "9007199254740992", "9007199254740993", "9007199254740991.0", "9.007199254740993e15", "1.5",
        "18446744073709551615", "18446744073709551616", "1e3", "5.0", "1e-1", "0e999", "1e999",
      ])
    default: return String(random.next() >> UInt64(random.below(64)))
    }
  }

  private mutating func command() -> String {
    random.pick([
      "move", "move", "move", "stop", "estop", "e-stop", "emergency_stop", "reset", "query", "Stop", "", "st\\u006fp",
      "mo\\/ve",
      "emergency_stop_emergency_stop_emergency_stop", "st\\ud83d\\ude00p", "\\ud800", "störe",
    ])
  }

  /// Any JSON number, long and extreme ones among them.
  private mutating func number() -> String {
    let sign = random.pick(["", "", "-"])
    let length = random.chance(5) ? 400 : random.chance(20) ? 40 : 8
    let whole = random.chance(40) ? "0" : random.pick(["1", "2", "9"]) + digits(random.below(length))
    let fraction = random.chance(60) ? "." + digits(1 + random.below(length)) : ""
    let exponent =
      random.chance(30)
      ? random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + digits(1 + random.below(random.chance(5) ? 30 : 3)) : ""
    return sign + whole + fraction + exponent
  }

  /// Around the edge of what one operation on doubles gets right: 2^53, 10^22, 19 digits.
  private mutating func preciseNumber() -> String {
    let mantissa =
      random.chance(50) ? String(9_007_199_254_740_992 - 500 + random.below(1_000)) : "1" + digits(1 + random.below(20))
    let point = 1 + random.below(mantissa.count - 1)
    let decimal = random.chance(50) ? mantissa : "\(mantissa.prefix(point)).\(mantissa.dropFirst(point))"
    return decimal + random.pick(["", "e-\(random.below(45))", "e-\(random.below(45))", "e\(random.below(30))"])
  }

  private mutating func value(depth: Int) -> String {
    let last = random.chance(5) ? 18 : 4
    switch random.below(depth < last ? 12 : 8) {
    case 0: return "true"
    case 1: return "false"
    case 2: return "null"
    case 3, 4: return "\"" + string() + "\""
    case 5...7: return number()
    case 8: return random.pick(["[]", "{}"])
    case 9:
      // One deep chain now and then, to meet the depth rule from both sides.
      let levels = random.chance(20) ? 12 + random.below(8) : 1
      return String(repeating: "[", count: levels) + value(depth: depth + levels)
        + String(repeating: "]", count: levels)
    case 10: return "[" + (0...random.below(3)).map { _ in value(depth: depth + 1) }.joined(separator: ",") + "]"
    default:
      return "{" + (0...random.below(2)).map { _ in member("left", value(depth: depth + 1)) }.joined(separator: ",")
        + "}"
    }
  }

  private mutating func string() -> String {
    let pieces = [
      "a", "left", " ", "\\\"", "\\\\", "\\/", "\\b\\f\\n\\r\\t", "\\u0041", "\\uD800", "\\udfff", "é", "€", "𝄞",
      "\u{7F}",
      "}", "]", ",", "\\u0000",
    ]
    return (0..<random.below(6)).map { _ in random.pick(pieces) }.joined()
  }

  private mutating func digits(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in UInt8(0x30 + random.below(10)) }, as: UTF8.self)
  }

  private mutating func space() -> String { random.chance(85) ? "" : random.pick([" ", "\t", "\r\n", "\n  "]) }
}
