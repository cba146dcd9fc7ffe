import HTTPTypes
import Logging

/// One structured line per action: `{ts, system, action, value, caller, tokenId, result}` and what belongs to it, such as `zoneId` and
/// `minutes`; `ts` comes from the logger.
struct ActionLog: Sendable {
  let logger: Logger

  /// - Parameters:
  ///   - action: `robot.drive`
  ///   - value: what was done, if it was: `left=30 right=30`.
  ///   - fields: further members.
  ///   - address: of the caller, without its port.
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
