extension Array {
  /// The first place from which on the condition holds, in an array where it holds for a tail.
  func partitioningIndex(where isInTail: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isInTail(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
