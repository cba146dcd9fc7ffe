import Tactus

/// The keys of `runtime.NAME`, which determine how the kernel schedules a system's lane. Each key is declared once: the
/// entry of the table, the default and the reading of the value come from the same declaration.
public struct LaneKeys: Sendable {
  /// The settings of a lane in a file.
  public struct Values: Equatable, Sendable {
    fileprivate var policy = Policy.fifo
    fileprivate var priority = 0
    fileprivate var budgetMicroseconds = 0
    /// The number of consecutive missed ticks after which the safe state is entered, or 0 if the lane has no such key.
    public fileprivate(set) var safeStateAfter = 0
    /// The CPUs to which the lane is restricted, or `nil` if it may use any.
    public fileprivate(set) var cpus: CPUSet?

    /// The lane's scheduling policy with its parameters.
    public var scheduling: Configuration.Scheduling {
      switch policy {
      case .fifo: .fifo(priority: priority)
      case .deadline: .deadline(budgetMicroseconds: budgetMicroseconds)
      case .normal: .normal
      }
    }
  }

  fileprivate enum Policy: String, CaseIterable {
    case fifo, deadline, normal
  }

  /// One key, with the property of `Values` that it sets.
  private struct Entry: Sendable {
    let key: ConfigKey
    let take: @Sendable (ConfigValue, inout Values) -> Void
  }

  private let entries: [Entry]
  /// The path of the execution time under deadline scheduling: `runtime.pump.budget_us`.
  private let budgetPath: String
  private let schedulingPath: String

  /// Declares the keys of one lane.
  ///
  /// - Parameters:
  ///   - part: the path of the keys: `runtime.pump`.
  ///   - lane: the lane's name in the reference: `the lane pump`.
  ///   - priority: the default priority under fifo.
  ///   - safeStateAfter: the default number of ticks that may be missed, with the effect of missing them, or `nil` if there is no such key.
  public init(_ part: String, _ lane: String, priority: Int, safeStateAfter: (count: Int, effect: String)? = nil) {
    (budgetPath, schedulingPath) = ("\(part).budget_us", "\(part).scheduling")
    entries =
      [
        Entry(
          key: ConfigKey(
            schedulingPath, .choice(Policy.allCases.map(\.rawValue)), .text(Policy.fifo.rawValue),
            "Kernel scheduling of \(lane): fifo (SCHED_FIFO), deadline (SCHED_DEADLINE) or normal.")
        ) { if case .text(let word) = $0, let policy = Policy(rawValue: word) { $1.policy = policy } },
        Entry(key: ConfigKey("\(part).priority", .integer(1...98), .integer(priority), "Priority under fifo.")) {
          if case .integer(let value) = $0 { $1.priority = value }
        },
        Entry(
          key: ConfigKey(
            budgetPath, .integer(20...1_000_000), .integer(2000),
            "Execution time granted per period under deadline, in microseconds; less than the period.")
        ) { if case .integer(let value) = $0 { $1.budgetMicroseconds = value } },
      ]
      + (safeStateAfter.map {
        [
          Entry(
            key: ConfigKey(
              "\(part).safe_state_after", .integer(2...1000), .integer($0.count),
              "Ticks missed in a row after which \($0.effect).")
          ) { if case .integer(let value) = $0 { $1.safeStateAfter = value } }
        ]
      } ?? [])
      + [
        Entry(key: ConfigKey("\(part).cpu", .cpus, nil, "The only CPUs the lane may use; any unless given.")) {
          if case .text(let text) = $0 { $1.cpus = CPUSet(text) }
        }
      ]
  }

  /// Returns the error of an execution time under deadline scheduling that is not less than the period.
  ///
  /// - Parameter rate: the key of the loop's rate and its value in hertz, or `nil` if the file does not decide it.
  func budgetErrors(
    _ scheduling: Configuration.Scheduling, periodMicroseconds period: Int, rate: (key: String, hertz: Int)? = nil,
    file: String, places: ConfigPlaces
  ) -> [ConfigError] {
    guard case .deadline(let budget) = scheduling, budget >= period else { return [] }
    let tooLong = "expected less than the period of \(period) µs, got \(budget)"
    if let rate, !places.gives(budgetPath), places.gives(rate.key) {
      let most = (1_000_000 - 1) / budget
      return [
        places.error(
          file, rate.key,
          "expected at most \(most) with \(places.setting(budgetPath, "\(budget) µs")), got \(rate.hertz)")
      ]
    }
    let without =
      "expected \(budgetPath) with deadline, less than the period of \(period) µs: it is \(budget) unless given"
    return [places.error(file, blaming: [budgetPath: tooLong, schedulingPath: without])]
  }

  /// The keys of a lane that the kernel schedules like every other thread: none. It suits loops without a deadline.
  public static let none = LaneKeys()

  private init() { (entries, budgetPath, schedulingPath) = ([], "", "") }

  /// The entries for the table of keys.
  var table: [ConfigKey] { entries.map(\.key) }

  /// Returns the values of a file, with defaults for keys that the file does not give.
  func values(_ given: GivenValues) -> Values {
    var values = Values()
    if entries.isEmpty { values.policy = .normal }
    for entry in entries {
      if let value = given.values[entry.key.path] ?? entry.key.standard { entry.take(value, &values) }
    }
    return values
  }
}
