import Tactus
import TactusDaemon

/// The rules of one loop of a declared system under the swarm, which a history's reloads change as `tactus reload` does: each number stands for a file
/// that somebody saves.
public struct DeclaredFiles<System: DeviceSystem> {
  private let files: [System.Rules]
  /// The number of the file that was taken last, which the next start reads.
  public private(set) var number = 0
  private var rules: PlayedRules<System>?

  /// - Parameter files: at least one; a history begins with the first.
  public init(_ files: [System.Rules]) { self.files = files }

  /// The rules that the next start reads.
  public var saved: System.Rules { files[number] }
  /// The same as the loop takes them.
  public var forLoop: System.LoopRules { System.loopRules(System.Wiring(), saved) }

  /// The loop of a daemon starts.
  ///
  /// - Parameter box: its rules, which are `forLoop`.
  public mutating func start(_ box: RulesBox<System.LoopRules>) { rules = PlayedRules(saved, in: box) }

  /// The change that a reload proposes, or `nil` if there is no file of that number, or if it says the same.
  public func change(to number: Int64) -> (any RulesChange)? {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return nil }
    return rules?.change(to: files[index])
  }

  /// Notes that the reload has told every loop.
  ///
  /// - Returns: whether there is a file of that number.
  public mutating func changed(to number: Int64) -> Bool {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return false }
    self.number = index
    return true
  }
}
