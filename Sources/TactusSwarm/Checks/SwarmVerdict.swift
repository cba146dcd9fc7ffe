/// The verdict on seeds in which every invariant held. An invariant proves nothing about a case that was never
/// exercised.
struct SwarmVerdict {
  /// The number of seeds of a minute or longer in which each case must have occurred at least once.
  static let enough: UInt64 = 100

  /// The verdict, followed by a line for each case that was never exercised.
  let words: String
  /// Whether a case was never exercised although the seeds were many and long enough for all cases.
  let isFailure: Bool

  /// Makes the verdict.
  ///
  /// - Parameters:
  ///   - leftOut: the names of the systems that cannot be played with the defaults of their keys.
  ///   - seconds: the length of each seed.
  ///   - allowsUnexercised: whether unexercised cases are allowed, so that they are no failure.
  init(_ tally: SwarmTally, leftOut: [String], seeds: UInt64, seconds: Int64, allowsUnexercised: Bool) {
    let missing =
      leftOut.map { "\($0): takes no part, since its loops cannot be made with the defaults of its keys" }
      + tally.unexercised
    let isLong = seeds >= Self.enough && seconds >= 60
    isFailure = !missing.isEmpty && isLong && !allowsUnexercised
    if missing.isEmpty {
      words = "every invariant held, and everything was exercised"
    } else {
      let more = isLong ? "" : ", which is a failure with \(Self.enough) seeds of a minute"
      words =
        (["every invariant held in what was exercised; never exercised\(more):"] + missing).joined(separator: "\n  ")
    }
  }
}
