/// The square of modules of a QR code: the patterns by which it is found, and the data between them.
struct QRMatrix {
  private let size: QRSize
  private(set) var modules: [[Bool]]
  /// Whether a module belongs to a pattern, which no mask changes.
  private var isPattern: [[Bool]]

  private var side: Int { size.side }

  /// Places the patterns, and the codewords in the zigzag of the standard.
  init(_ size: QRSize, words: [UInt8]) {
    self.size = size
    let empty = [[Bool]](repeating: [Bool](repeating: false, count: size.side), count: size.side)
    (modules, isPattern) = (empty, empty)
    placeTiming()
    placeFinders()
    placeAlignments()
    placeFormat(mask: 0)
    placeVersion()
    place(words)
  }

  /// Returns the same code with one of the eight masks.
  func masked(_ mask: Int) -> QRMatrix {
    var result = self
    for y in 0..<side {
      for x in 0..<side where !isPattern[y][x] && Self.inverts(mask, x, y) { result.modules[y][x].toggle() }
    }
    result.placeFormat(mask: mask)
    return result
  }

  private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
    switch mask {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }

  // MARK: patterns

  private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
    modules[y][x] = isDark
    isPattern[y][x] = true
  }

  private mutating func placeTiming() {
    for index in 0..<side {
      set(6, index, index % 2 == 0)
      set(index, 6, index % 2 == 0)
    }
  }

  /// Places the finder patterns: the squares in three corners, each with its light border.
  private mutating func placeFinders() {
    for (left, top) in [(3, 3), (side - 4, 3), (3, side - 4)] {
      for dy in -4...4 {
        for dx in -4...4 where (0..<side).contains(left + dx) && (0..<side).contains(top + dy) {
          let distance = max(dx.magnitude, dy.magnitude)
          set(left + dx, top + dy, distance != 2 && distance != 4)
        }
      }
    }
  }

  private mutating func placeAlignments() {
    guard size.version > 1 else { return }
    let last = side - 7
    let places = size.version < 7 ? [6, last] : [6, (6 + last) / 2, last]
    for y in places {
      for x in places where ![(6, 6), (6, last), (last, 6)].contains(where: { $0 == (x, y) }) {
        for dy in -2...2 {
          for dx in -2...2 { set(x + dx, y + dy, max(dx.magnitude, dy.magnitude) != 1) }
        }
      }
    }
  }

  /// Places both copies of the format: the indicator 00 of level M and the mask's number, protected by a BCH code.
  private mutating func placeFormat(mask: Int) {
    let bits = (mask << 10 | Self.remainder(mask, degree: 10, generator: 0x537)) ^ 0x5412
    for index in 0..<15 {
      let isDark = bits >> index & 1 == 1
      switch index {
      case 0..<6: set(8, index, isDark)
      case 6, 7: set(8, index + 1, isDark)
      case 8: set(7, 8, isDark)
      default: set(14 - index, 8, isDark)
      }
      if index < 8 { set(side - 1 - index, 8, isDark) } else { set(8, side - 15 + index, isDark) }
    }
    set(8, side - 8, true)
  }

  private mutating func placeVersion() {
    guard size.version >= 7 else { return }
    let bits = size.version << 12 | Self.remainder(size.version, degree: 12, generator: 0x1F25)
    for index in 0..<18 {
      let isDark = bits >> index & 1 == 1
      set(side - 11 + index % 3, index / 3, isDark)
      set(index / 3, side - 11 + index % 3, isDark)
    }
  }

  /// Returns the remainder of a BCH code.
  private static func remainder(_ value: Int, degree: Int, generator: Int) -> Int {
    var rest = value
    for _ in 0..<degree { rest = rest << 1 ^ (rest >> (degree - 1)) * generator }
    return rest
  }

  // MARK: data

  private mutating func place(_ words: [UInt8]) {
    var bits = words.lazy.flatMap { word in (0..<8).reversed().map { word >> $0 & 1 == 1 } }.makeIterator()
    // Pairs of columns from the right, upwards and downwards in turn; the vertical timing pattern has a column to itself.
    var isUpward = true
    for right in stride(from: side - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
      for step in 0..<side {
        let y = isUpward ? side - 1 - step : step
        for x in [right, right - 1] where !isPattern[y][x] { modules[y][x] = bits.next() ?? false }
      }
      isUpward.toggle()
    }
  }

  // MARK: the choice of the mask

  /// The penalty points of the standard, for patterns that make a code hard to read; fewer are better.
  var penalty: Int {
    let columns = (0..<side).map { x in modules.map { $0[x] } }
    let dark = modules.reduce(0) { $0 + $1.count(where: \.self) }
    let imbalance = Int(clamping: (dark * 20 - side * side * 10).magnitude) / (side * side)
    return (modules + columns).reduce(0) { $0 + Self.penalty(of: $1) } + 3 * squares + 10 * imbalance
  }

  /// The number of squares of four equal modules.
  private var squares: Int {
    (1..<side).reduce(0) { count, y in
      count
        + (1..<side).count { x in
          let one = modules[y][x]
          return modules[y - 1][x] == one && modules[y][x - 1] == one && modules[y - 1][x - 1] == one
        }
    }
  }

  /// Returns the penalty points of one row or column, for runs of five or more equal modules and for patterns that
  /// resemble a finder.
  private static func penalty(of line: [Bool]) -> Int {
    var points = 0
    var run = 0
    var history: UInt16 = 0
    for (index, isDark) in line.enumerated() {
      run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
      if run == 5 { points += 3 } else if run > 5 { points += 1 }
      history = (history << 1 | (isDark ? 1 : 0)) & 0x7FF
      if index >= 10, history == 0b101_1101_0000 || history == 0b000_0101_1101 { points += 40 }
    }
    return points
  }
}
