/// A set of CPUs with numbers from 0 to 1023, written `[0, 1, 3]` or as the kernel writes it, `0-1,3`.
public struct CPUSet: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// The numbers of the CPUs, ascending and without repetition. `Runtime` refuses numbers that are out of range.
  public let cpus: [Int]

  /// Creates a set of the CPUs with these numbers, from 0; a number that is repeated counts once.
  public init(_ cpus: some Sequence<Int>) { self.cpus = Set(cpus).sorted() }
  public init(arrayLiteral cpus: Int...) { self.init(cpus) }

  /// Parses the text that the kernel's files and tools use: numbers and ranges with commas between them. The result is `nil` for any other text.
  public init?(_ text: String) {
    var cpus: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
      let numbers = ends.compactMap { end in end.allSatisfy { ("0"..."9").contains($0) } ? Int(end) : nil }
      guard numbers.count == ends.count, let first = numbers.first, let last = numbers.last,
        first <= last, last < Self.limit
      else { return nil }
      cpus += first...last
    }
    self.init(cpus)
  }

  /// Returns whether the set contains the CPU with this number.
  public func contains(_ cpu: Int) -> Bool { cpus.contains(cpu) }
  /// Whether the set has no CPU. A lane cannot run on an empty set, and `Runtime` refuses it.
  public var isEmpty: Bool { cpus.isEmpty }

  static let limit = 1024

  /// Returns the CPUs of this set that `other` does not contain.
  func subtracting(_ other: CPUSet) -> CPUSet { CPUSet(cpus.filter { !other.contains($0) }) }

  /// The set as the bit mask that the kernel takes: CPU n is bit n modulo 64 of word n / 64.
  var words: [UInt64] {
    var words = [UInt64](repeating: 0, count: Self.limit / 64)
    for cpu in cpus { words[cpu / 64] |= 1 << UInt64(cpu % 64) }
    return words
  }

  init(words: [UInt64]) { self.init((0..<Self.limit).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }) }
}

extension CPUSet: CustomStringConvertible {
  /// The set as the kernel writes it, such as `0-1,3`.
  public var description: String {
    var ranges: [ClosedRange<Int>] = []
    for cpu in cpus {
      if let last = ranges.last, last.upperBound + 1 == cpu {
        ranges[ranges.count - 1] = last.lowerBound...cpu
      } else {
        ranges.append(cpu...cpu)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
      separator: ",")
  }
}
