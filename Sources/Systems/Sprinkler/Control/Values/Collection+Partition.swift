extension Array {
  /// Returns the first index from which the condition holds for every element; `count` if it holds for none.
  ///
  /// The condition must hold for a tail of the array and for no element before that tail.
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
