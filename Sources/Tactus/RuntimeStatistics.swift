/// The accounts of every loop of a runtime.
public struct RuntimeStatistics: Sendable {
  public let loops: [LoopStatistics]

  public subscript(name: String) -> LoopStatistics? { loops.first { $0.name == name } }
}
