import Foundation
import Wire

/// The body of `POST /api/robot/drive`.
struct RobotDriveBody {
  let speeds: WheelSpeeds
  /// The client's own clock, seconds or milliseconds as in a datagram.
  let timestamp: SenderTimestamp?

  private struct Members: Decodable {
    let left, right: Double
    let timestamp: Double?
  }

  /// What the log says.
  var logValue: String { "left=\(speeds.left.value) right=\(speeds.right.value)" }

  /// - Throws: 400 `BAD_JSON`; 422 `VALIDATION` with the field.
  init(_ request: APIRequest) throws(APIError) {
    let members: Members
    do {
      members = try JSONDecoder().decode(Members.self, from: Data(request.body))
    } catch {
      throw Self.refusal(error)
    }
    for (field, value) in [("left", members.left), ("right", members.right)] {
      guard (-100...100).contains(value) else {
        throw .validation(field, expected: Self.expected(field), got: "\(value)")
      }
    }
    speeds = WheelSpeeds(left: Percent(members.left), right: Percent(members.right))
    timestamp = members.timestamp.map { SenderTimestamp(wireValue: $0) }
  }

  private static func expected(_ field: String) -> String {
    switch field {
    case "body": "an object"
    case "timestamp": "a number"
    default: "a number −100…100"
    }
  }

  private static func refusal(_ error: any Error) -> APIError {
    func wrong(_ field: String?, got: String) -> APIError {
      .validation(field ?? "body", expected: expected(field ?? "body"), got: got)
    }
    switch error as? DecodingError {
    case .keyNotFound(let key, _): return wrong(key.stringValue, got: "nothing")
    case .typeMismatch(_, let context): return wrong(context.codingPath.last?.stringValue, got: "another kind of value")
    case .valueNotFound(_, let context): return wrong(context.codingPath.last?.stringValue, got: "null")
    case .dataCorrupted, nil: return APIError(.badRequest, "BAD_JSON", "the body is not JSON")
    @unknown default: return APIError(.badRequest, "BAD_JSON", "the body is not JSON")
    }
  }
}
