/// Finds the shortest list that still fails, by leaving out ever smaller pieces.
enum SwarmShrinker {
  /// A sublist of `list` that fails and of which no single element can be left out, unless `budget` ends it before.
  ///
  /// - Parameters:
  ///   - list: fails.
  ///   - budget: how often `fails` is called at most.
  ///   - fails: must be deterministic.
  static func shortest<Element>(
    _ list: [Element], budget: Int = 4_000, fails: ([Element]) throws -> Bool
  ) rethrows -> [Element] {
    var list = list
    var left = budget
    var size = max(1, list.count / 2)
    while !list.isEmpty {
      var hasShrunk = false
      // From the end: what came after the cause goes first.
      var end = list.count
      while end > 0, left > 0 {
        let start = max(0, end - size)
        let without = Array(list[..<start] + list[end...])
        left -= 1
        if try fails(without) {
          list = without
          hasShrunk = true
        }
        end = start
      }
      if left <= 0 || size == 1 && !hasShrunk { break }
      if size > 1 { size /= 2 }
    }
    return list
  }
}
