/// The order in which the loops of one lane run when several are due, and the phases that follow from the order.
///
/// Loops with a shorter period run first, and among equal periods the loop declared first. A loop that is declared to run after
/// others runs behind them; those loops therefore become as urgent as the most urgent loop behind them.
struct LoopOrder {
  /// The loops, the most urgent first, so that a loop's index is its rank.
  let loops: [Loop]
  /// The ranks, for each loop, of the loops that it runs after.
  let predecessors: [[Int]]

  /// Orders the loops of a lane.
  ///
  /// - Parameter lanes: the name of the lane of each loop of the runtime, by the loop's name.
  init(_ declared: [Loop], lane: String, lanes: [String: String]) throws(RuntimeError) {
    if declared.allSatisfy(\.predecessors.isEmpty) {
      loops = declared.enumerated()
        .sorted { ($0.element.rate.period, $0.offset) < ($1.element.rate.period, $1.offset) }.map(\.element)
      predecessors = .init(repeating: [], count: declared.count)
      return
    }
    let before = try Self.indices(declared, lane: lane, lanes: lanes)
    try Self.rejectCycles(declared, before)
    let ranked = Self.ranked(declared, before)
    var rank = [Int](repeating: 0, count: declared.count)
    for (place, index) in ranked.enumerated() { rank[index] = place }
    loops = ranked.map { declared[$0] }
    predecessors = ranked.map { before[$0].map { rank[$0] } }
  }

  private static func indices(
    _ declared: [Loop], lane: String, lanes: [String: String]
  ) throws(RuntimeError) -> [[Int]] {
    let index = Dictionary(declared.indices.map { (declared[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    var before: [[Int]] = []
    for loop in declared {
      var list: [Int] = []
      for name in loop.predecessors {
        guard let place = index[name] else {
          let reason =
            switch lanes[name] {
            case .none: "after \"\(name)\", but no loop has that name"
            case .some(let other):
              "after \"\(name)\", which is on lane \"\(other)\": only loops of one lane run in an order. Put both on one lane, "
                + "or hand the values over in a Latest"
            }
          throw .invalidOrder(loop: loop.name, reason: reason)
        }
        list.append(place)
      }
      before.append(list)
    }
    return before
  }

  private static func rejectCycles(_ declared: [Loop], _ before: [[Int]]) throws(RuntimeError) {
    var isDone = [Bool](repeating: false, count: declared.count)
    var path: [Int] = []
    func visit(_ loop: Int) throws(RuntimeError) {
      if isDone[loop] { return }
      if let start = path.firstIndex(of: loop) {
        let circle = (path[start...] + [loop]).map { "\"\(declared[$0].name)\"" }.joined(separator: " after ")
        throw .invalidOrder(loop: declared[loop].name, reason: "it would run after itself: \(circle)")
      }
      path.append(loop)
      for predecessor in before[loop] { try visit(predecessor) }
      path.removeLast()
      isDone[loop] = true
    }
    for loop in declared.indices { try visit(loop) }
  }

  private static func ranked(_ declared: [Loop], _ before: [[Int]]) -> [Int] {
    // The shortest of the loop's period and those of the loops that run after it. The most urgent loop is visited first, so the first value stands.
    var urgency = [Nanoseconds?](repeating: nil, count: declared.count)
    func hurry(_ loop: Int, _ period: Nanoseconds) {
      guard urgency[loop] == nil else { return }
      urgency[loop] = period
      for predecessor in before[loop] { hurry(predecessor, period) }
    }
    let byPeriod = declared.indices.sorted { (declared[$0].rate.period, $0) < (declared[$1].rate.period, $1) }
    for loop in byPeriod { hurry(loop, declared[loop].rate.period) }

    func isMoreUrgent(_ one: Int, _ other: Int) -> Bool { (urgency[one]!, one) < (urgency[other]!, other) }
    func allBefore(_ loop: Int, into all: inout Set<Int>) {
      for predecessor in before[loop] where all.insert(predecessor).inserted { allBefore(predecessor, into: &all) }
    }
    // Places each loop as early as its predecessors allow, the most urgent one first.
    var isPlaced = [Bool](repeating: false, count: declared.count)
    var ranked: [Int] = []
    func place(_ loop: Int) {
      if isPlaced[loop] { return }
      var earlier: Set<Int> = []
      allBefore(loop, into: &earlier)
      for other in earlier.sorted(by: isMoreUrgent) { place(other) }
      isPlaced[loop] = true
      ranked.append(loop)
    }
    for loop in declared.indices.sorted(by: isMoreUrgent) { place(loop) }
    return ranked
  }

  /// Returns the phase of each loop by rank: the declared phase, or else that of a loop to which it is tied by `after`, or else the planner's choice.
  func phases() throws(RuntimeError) -> [Nanoseconds] {
    var given = loops.map(\.phase)
    // Predecessors have the smaller ranks: one way down takes their phases along, one way up those of the followers.
    for loop in loops.indices where given[loop] == nil {
      given[loop] = predecessors[loop].lazy.compactMap { given[$0] }.first
    }
    for loop in loops.indices.reversed() {
      guard let phase = given[loop] else { continue }
      for predecessor in predecessors[loop] where given[predecessor] == nil { given[predecessor] = phase }
    }
    for loop in loops.indices where given[loop] == nil {
      given[loop] = predecessors[loop].lazy.compactMap { given[$0] }.first
    }
    let periods = loops.map(\.rate.period)
    let phases = Planner.phases(periods: periods, given: given, together: groups())
    if let reason = contradiction(periods: periods, phases: phases) { throw reason }
    return phases
  }

  /// Returns the groups of loops that are tied to each other by `after`, each of at least two loops.
  private func groups() -> [[Int]] {
    var group = Array(loops.indices)
    func first(_ loop: Int) -> Int { group[loop] == loop ? loop : first(group[loop]) }
    for loop in loops.indices {
      for predecessor in predecessors[loop] {
        let (one, other) = (first(loop), first(predecessor))
        group[max(one, other)] = min(one, other)
      }
    }
    return Dictionary(grouping: loops.indices, by: first).values.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
  }

  /// Returns an error that names two loops in an order that are never released at the same instant, or `nil` if all orders are possible.
  func contradiction(periods: [Nanoseconds], phases: [Nanoseconds]) -> RuntimeError? {
    for loop in loops.indices {
      for predecessor in predecessors[loop] {
        let common = greatestCommonDivisor(periods[loop].count, periods[predecessor].count)
        guard (phases[loop] - phases[predecessor]).count % common != 0 else { continue }
        return .invalidOrder(
          loop: loops[loop].name,
          reason: "after \"\(loops[predecessor].name)\", but they are never released at one instant: phase "
            + "\(phases[loop]), every \(periods[loop]), and phase \(phases[predecessor]), every \(periods[predecessor]). "
            + "Give both one phase, or none")
      }
    }
    return nil
  }
}

func greatestCommonDivisor(_ a: Int64, _ b: Int64) -> Int64 { b == 0 ? a : greatestCommonDivisor(b, a % b) }
