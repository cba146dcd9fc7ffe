import Buses
import Tactus

/// A fault as `POST /api/sim/fault` takes it and `GET /api/sim/fault` shows it: absent members do not belong to it.
struct SimulatedFault: Encodable, Hashable {
  enum Name: String, Encodable, CaseIterable {
    case nak, stuck
    case randomNak = "random-nak"
    case full, gone
    case linkLoss = "link-loss"
    case packetLoss = "packet-loss"
    case delay, duplication, reordering
    case laneStall = "lane-stall"
    case clear

    /// The members that it must have, and those it may have.
    var members: (needed: [String], optional: [String]) {
      switch self {
      case .nak: (["bus", "address"], ["count"])
      case .randomNak, .packetLoss, .duplication: (["bus", "perMille"], [])
      case .reordering: (["bus", "perMille"], ["holdMs"])
      case .stuck, .full, .gone, .linkLoss: (["bus"], [])
      case .delay: (["bus", "ms"], ["jitterMs"])
      case .laneStall: (["lane", "ms"], [])
      case .clear: ([], ["bus"])
      }
    }

    /// Faults that a bus of this kind can have.
    static func of(_ line: SimulatedBus.Line) -> [Name] {
      switch line {
      case .i2c: [.nak, .randomNak, .stuck]
      case .serial: [.full, .gone]
      case .datagram: [.linkLoss, .packetLoss, .delay, .duplication, .reordering]
      }
    }
  }

  var fault: Name
  var bus: String?
  var lane: String?
  /// 8…119.
  var address: Int?
  /// Transfers that are still refused; nil: until cleared.
  var count: Int?
  /// 0…1000.
  var perMille: Int?
  var ms: Int?
  var jitterMs: Int?
  var holdMs: Int?

  init(_ fault: Name, bus: String? = nil, lane: String? = nil) {
    (self.fault, self.bus, self.lane) = (fault, bus, lane)
  }

  /// - Throws: 422 with the field for anything unknown, missing or out of range.
  init(_ body: BodyReader) throws(APIError) {
    let text = try body.text("fault")
    guard let fault = Name(rawValue: text) else {
      let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw .validation("fault", expected: "one of \(known)", got: "\"\(text.prefix(40))\"")
    }
    let (needed, optional) = fault.members
    try body.allow(["fault"] + needed + optional)
    func isGiven(_ name: String) -> Bool { needed.contains(name) || body.has(name) }
    self.fault = fault
    if isGiven("bus") { bus = try body.text("bus") }
    if isGiven("lane") { lane = try body.text("lane") }
    if isGiven("address") { address = try body.integer("address", in: 0x08...0x77) }
    if isGiven("count") { count = try body.integer("count", in: 1...1_000_000) }
    if isGiven("perMille") { perMille = try body.integer("perMille", in: 0...1000) }
    if isGiven("ms") { ms = try body.integer("ms", in: fault == .laneStall ? 1...5_000 : 0...60_000) }
    if isGiven("jitterMs") { jitterMs = try body.integer("jitterMs", in: 0...60_000) }
    if isGiven("holdMs") { holdMs = try body.integer("holdMs", in: 0...60_000) }
  }
}
