import HTTPTypes
import Logging

/// Writes one structured line for each action: `{ts, system, action, value, caller, tokenId, result}` and further
/// members of the action, such as `zoneId` and `minutes`; `ts` comes from the logger.
struct ActionLog: Sendable {
  let logger: Logger

  /// Writes the line of one action.
  ///
  /// - Parameters:
  ///   - action: the system and the action: `robot.drive`.
  ///   - value: the result of the action, such as `left=30 right=30`, or `nil` if it was not carried out.
  ///   - fields: further members of the line.
  ///   - address: the caller's address without its port.
  ///   - result: `ok`, or the code of the error.
  func note(
    _ action: String, value: String?, fields: [String: String] = [:], address: String, tokenID: String?, result: String
  ) {
    let names = action.split(separator: ".", maxSplits: 1).map(String.init)
    precondition(names.count == 2, "an action is SYSTEM.ACTION: \(action)")
    var metadata: Logger.Metadata = [
      "system": .string(names[0]), "action": .string(names[1]), "caller": .string(address), "result": .string(result),
    ]
    if let value { metadata["value"] = .string(value) }
    if let tokenID { metadata["tokenId"] = .string(tokenID) }
    metadata.merge(fields.mapValues { .string($0) }) { own, _ in own }
    logger.info("action", metadata: metadata)
  }
}
