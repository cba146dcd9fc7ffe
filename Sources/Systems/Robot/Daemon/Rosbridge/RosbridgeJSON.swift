import Robot
import Service
import TactusControl
import Wire

/// Parts of messages to rosbridge's clients.
enum RosbridgeJSON {
  static func object(_ members: (String, JSONValue)...) -> JSONValue {
    .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
  }

  /// Returns a number, or null for a number that is not finite, as ROS writes it.
  static func number(_ value: Double) -> JSONValue { value.isFinite ? .number("\(value)") : .null }

  static func vector(_ x: Double, _ y: Double, _ z: Double) -> JSONValue {
    object(("x", number(x)), ("y", number(y)), ("z", number(z)))
  }

  /// Returns a covariance matrix of 6 × 6 numbers, row by row, with `variance` on the diagonal and 0 elsewhere.
  static func diagonal(_ variance: String) -> JSONValue {
    .list((0..<36).map { .number($0 % 7 == 0 ? variance : "0") })
  }

  /// Returns `{"op": "status", …}`.
  static func status(_ level: RosbridgeLevel, _ text: String, id: String?) -> JSONValue {
    let own: [JSONValue.Member] = [
      .init(name: "op", value: .text("status")), .init(name: "level", value: .text(level.rawValue)),
      .init(name: "msg", value: .text(text)),
    ]
    return .object(own + (id.map { [.init(name: "id", value: .text($0))] } ?? []))
  }

  /// Returns the answer to a call of a service that the robot does not have.
  static func failed(_ service: String, _ text: String, id: String?) -> JSONValue {
    let own: [JSONValue.Member] = [
      .init(name: "op", value: .text("service_response")), .init(name: "service", value: .text(service)),
      .init(name: "values", value: .text(text)), .init(name: "result", value: .boolean(false)),
    ]
    return .object(own + (id.map { [.init(name: "id", value: .text($0))] } ?? []))
  }

  static func published(_ topic: RosbridgeTopic, _ message: JSONValue) -> JSONValue {
    object(("op", .text("publish")), ("topic", .text(topic.rawValue)), ("msg", message))
  }
}

extension Double {
  /// The sine of this many radians.
  var sine: Double { Math.sin(self) }
  /// The cosine of this many radians.
  var cosine: Double { Math.cos(self) }
}
