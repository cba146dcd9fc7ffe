/// Finds the shortest list that still fails by leaving out ever smaller pieces.
enum SwarmShrinker {
  /// Returns a sublist of `list` that fails and of which no single element can be left out, or the shortest one found when `budget` is used up.
  ///
  /// - Parameters:
  ///   - list: a list that fails.
  ///   - budget: the greatest number of calls of `fails`.
  ///   - fails: returns whether a list fails; must be deterministic.
  static func shortest<Element>(
    _ list: [Element], budget: Int = 4_000, fails: ([Element]) throws -> Bool
  ) rethrows -> [Element] {
    var list = list
    var left = budget
    var size = max(1, list.count / 2)
    while !list.isEmpty {
      var hasShrunk = false
      // Elements are removed from the end, so that those after the cause go first.
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
