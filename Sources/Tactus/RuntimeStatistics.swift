/// The accounts of every loop of a runtime.
public struct RuntimeStatistics: Sendable {
  /// Every loop, in the order of declaration.
  public let loops: [LoopStatistics]

  /// The accounts of the loop of this name; `nil` if there is none.
  public subscript(name: String) -> LoopStatistics? { loops.first { $0.name == name } }
}
