import Logging
import Tactus

/// Limits the number of log lines by their kind: the first lines of a kind in a minute are written, the others are
/// counted, and one line reports their number.
///
/// A client without a token can make the daemon log the same message again and again through any interface. Therefore
/// the limit is applied where all lines pass, independently of the interface. Lines about actions with a token, and
/// critical lines, are always written.
struct LogLimiter {
  /// The properties that lines with different details have in common.
  struct Kind: Hashable {
    var label: String
    var level: Logger.Level
    var message: String
    var system: String?
    var action: String?
    var result: String?
  }

  /// The number of lines of one kind that were not written since the last account.
  struct Excess: Equatable {
    /// The kind of the lines, or `nil` for all kinds beyond the `kinds` that are counted separately.
    var kind: Kind?
    var count: Int
  }

  static let linesOfAKind = 30
  /// The greatest number of lines of all kinds together in a period.
  static let lines = 300
  /// The greatest number of kinds that are counted separately; lines of further kinds are counted together.
  static let kinds = 64
  static let period = Nanoseconds.seconds(60)

  private struct Account {
    var written = 0
    var excess = 0
  }

  private var accounts: [Kind?: Account] = [:]
  private var written = 0
  private var end = TickInstant.zero

  /// Returns whether a line of this kind is to be written. If not, the line is counted.
  mutating func admit(_ kind: Kind, at now: TickInstant) -> Bool {
    if accounts.isEmpty { end = now + Self.period }
    let known = accounts[kind] != nil || accounts.count < Self.kinds ? kind : nil
    guard written < Self.lines, accounts[known, default: Account()].written < Self.linesOfAKind else {
      accounts[known, default: Account()].excess += 1
      return false
    }
    accounts[known, default: Account()].written += 1
    written += 1
    return true
  }

  /// Returns the numbers of counted lines, the highest first, and starts a new period. Returns nothing before a minute
  /// is over, unless `atOnce` is set.
  mutating func account(at now: TickInstant, atOnce: Bool = false) -> [Excess] {
    guard !accounts.isEmpty, now >= end || atOnce else { return [] }
    defer { (accounts, written) = ([:], 0) }
    return accounts.filter { $1.excess > 0 }.map { Excess(kind: $0, count: $1.excess) }.sorted { $0.count > $1.count }
  }
}

extension LogLimiter.Kind {
  /// Makes the kind of a line. Returns `nil` if the line is not limited.
  init?(label: String, level: Logger.Level, message: String, metadata: Logger.Metadata) {
    guard level < .critical, metadata["tokenId"] == nil else { return nil }
    self.init(
      label: label, level: level, message: message, system: metadata["system"]?.description,
      action: metadata["action"]?.description, result: metadata["result"]?.description)
  }
}

extension LogLimiter.Excess {
  var message: String {
    let count = "\(count) more in the last minute"
    return kind.map { "\($0.message): \(count)" } ?? "lines of other kinds: \(count)"
  }

  var metadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["more": .stringConvertible(count)]
    for (name, value) in [("system", kind?.system), ("action", kind?.action), ("result", kind?.result)] {
      if let value { metadata[name] = .string(value) }
    }
    return metadata
  }
}
