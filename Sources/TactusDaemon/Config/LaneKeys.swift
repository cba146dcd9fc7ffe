import Tactus

/// The keys of `runtime.NAME`: how the kernel schedules a system's lane. Of each key one declaration is the table's entry, the default,
/// and what is read.
public struct LaneKeys: Sendable {
  /// What a file says of a lane.
  public struct Values: Equatable, Sendable {
    fileprivate var policy = Policy.fifo
    fileprivate var priority = 0
    fileprivate var budgetMicroseconds = 0
    /// Ticks missed in a row after which the safe state is entered; 0 if the lane has no such key.
    public fileprivate(set) var safeStateAfter = 0
    /// The only CPUs that the lane may use, or `nil` if it may use any.
    public fileprivate(set) var cpus: CPUSet?

    /// How the kernel schedules the lane, with what its policy needs.
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

  /// One key, and the property of `Values` that it sets.
  private struct Entry: Sendable {
    let key: ConfigKey
    let take: @Sendable (ConfigValue, inout Values) -> Void
  }

  private let entries: [Entry]
  /// The path of the execution time under deadline, which rules over more than one key name: `runtime.pump.budget_us`.
  public let budgetPath: String
  private let schedulingPath: String

  /// - Parameters:
  ///   - part: `runtime.pump`.
  ///   - lane: what the reference calls it: `the lane pump`.
  ///   - priority: under fifo, unless given.
  ///   - safeStateAfter: the ticks that may be missed unless given, and what follows then, or `nil` if there is no such key.
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

  /// What is wrong with an execution time under deadline that is no less than the period.
  ///
  /// - Parameter rate: the key of the loop's rate and its value in hertz, or `nil` if the file does not decide it.
  public func budgetErrors(
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
          "expected at most \(most) with \(places.words(budgetPath, "\(budget) µs")), got \(rate.hertz)")
      ]
    }
    let without =
      "expected \(budgetPath) with deadline, less than the period of \(period) µs: it is \(budget) unless given"
    return [places.error(file, blaming: [budgetPath: tooLong, schedulingPath: without])]
  }

  /// The table's entries.
  public var table: [ConfigKey] { entries.map(\.key) }

  /// The values of a file over the defaults.
  public func values(_ given: GivenValues) -> Values {
    var values = Values()
    for entry in entries {
      if let value = given.values[entry.key.path] ?? entry.key.standard { entry.take(value, &values) }
    }
    return values
  }
}
