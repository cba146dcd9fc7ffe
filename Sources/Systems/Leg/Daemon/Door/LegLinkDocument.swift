import Leg

/// One way to a leg as `GET /api/leg` and `/metrics` show it: what it is, who is there, and what has gone over it since the
/// start.
struct LegLinkDocument: Encodable {
  let report: LegLinkReport
  let traffic: LegLinkTraffic

  private enum CodingKeys: CodingKey {
    case kind, state, device, peer, reason, framesReceived, framesMalformed, framesLost, framesSent, sendFailures
  }

  init(_ report: LegLinkReport, _ traffic: LegLinkTraffic) { (self.report, self.traffic) = (report, traffic) }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(report.kind, forKey: .kind)
    try object.encode(report.state, forKey: .state)
    try object.encode(report.device, forKey: .device)
    try object.encode(report.peer, forKey: .peer)
    try object.encode(report.reason, forKey: .reason)
    try object.encode(traffic.received, forKey: .framesReceived)
    try object.encode(traffic.malformed, forKey: .framesMalformed)
    try object.encode(traffic.lost, forKey: .framesLost)
    try object.encode(traffic.sent, forKey: .framesSent)
    try object.encode(traffic.sendFailures, forKey: .sendFailures)
  }
}

/// Frames of one way to a leg since the start.
struct LegLinkTraffic {
  /// Received, whatever they were, and those that were no command.
  var received: Int64 = 0
  var malformed: Int64 = 0
  /// Came and never reached the leg.
  var lost: Int64 = 0
  /// Telemetry sent, and not taken.
  var sent: Int64 = 0
  var sendFailures: Int64 = 0

  init() {}

  /// It is `nil` if the loop has not ticked yet.
  init(_ link: LegLinkStatus?, lost: UInt64) {
    if let link {
      (received, malformed, sent, sendFailures) = (link.received, link.malformed, link.sent, link.sendFailures)
    }
    self.lost = Int64(clamping: lost)
  }
}

extension LegDoor {
  /// The ways to a leg: its UDP port, what it is reached by besides, the service's WebSocket.
  func linkDocuments(of leg: Int, in newest: LegSnapshot) -> [LegLinkDocument] {
    let found = (0..<newest.linkCount).map { newest.link($0) }.filter { $0.leg == leg }
    func status(_ kind: LegLinkReport.Kind) -> LegLinkStatus? { found.first { $0.kind.reported == kind } }
    let datagrams = LegLinkReport(
      .udp, .open, device: "port \(legs[leg].port)", peer: status(.udp)?.listener.map { "\($0)" })
    return ([datagrams] + legs[leg].links.map { $0() }).map { report in
      LegLinkDocument(report, LegLinkTraffic(status(report.kind), lost: report.lost))
    } + [links.document(leg: leg)]
  }
}

extension LegLinkKind {
  fileprivate var reported: LegLinkReport.Kind {
    switch self {
    case .datagrams: .udp
    case .serial: .serial
    case .bluetooth: .bluetooth
    }
  }
}
