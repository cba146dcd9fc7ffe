/// Returns the known name that is most similar to `name`, or `nil` if in every known name more than a third of the letters differ.
///
/// The name is for error messages. The search takes a negligible time for any `name`, because it is cut to 64 characters.
public func nearestName(to name: String, among known: [String]) -> String? {
  let name = String(name.prefix(64))
  let best = known.map { ($0, editDistance(name, $0)) }.min { $0.1 < $1.1 }
  guard let best, best.1 <= max(1, max(name.count, best.0.count) / 3) else { return nil }
  return best.0
}

/// Returns the number of letters to insert, remove, replace or swap with their neighbour to turn one text into the other, ignoring case.
public func editDistance(_ first: String, _ second: String) -> Int {
  let a = Array(first.lowercased())
  let b = Array(second.lowercased())
  var beforePrevious: [Int] = []
  var previous = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var cost = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforePrevious[j - 1] + 1) }
      row.append(cost)
    }
    (beforePrevious, previous) = (previous, row)
  }
  return previous[b.count]
}
