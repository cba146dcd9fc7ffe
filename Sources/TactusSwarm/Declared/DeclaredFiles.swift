import Tactus
import TactusDaemon

/// The rules of one loop of a declared system under the swarm. The reloads of a history change them as `tactus reload`
/// does; each number stands for a saved configuration file.
public struct DeclaredFiles<System: DeviceSystem> {
  private let files: [System.Rules]
  /// The number of the file that took effect last, which the next start reads.
  public private(set) var number = 0
  private var rules: PlayedRules<System>?

  /// Creates the rules of a loop from those of its files.
  ///
  /// - Parameter files: the rules of the files, at least one; a history begins with the first.
  public init(_ files: [System.Rules]) { self.files = files }

  /// The rules of the file that the next start reads.
  public var saved: System.Rules { files[number] }
  /// The rules of the file that the next start reads, in the form that the loop takes.
  public var forLoop: System.LoopRules { System.loopRules(System.Wiring(), saved) }

  /// Notes that the loop of a daemon has started.
  ///
  /// - Parameter box: the loop's rules, which begin as `forLoop`.
  public mutating func start(_ box: RulesBox<System.LoopRules>) { rules = PlayedRules(saved, in: box) }

  /// Returns the change that a reload proposes, or `nil` if there is no file with that number or its rules are the
  /// same.
  public func change(to number: Int64) -> (any RulesChange)? {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return nil }
    return rules?.change(to: files[index])
  }

  /// Notes that a reload has passed the rules of a file to every loop.
  ///
  /// - Returns: whether there is a file with that number.
  public mutating func changed(to number: Int64) -> Bool {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return false }
    self.number = index
    return true
  }
}
