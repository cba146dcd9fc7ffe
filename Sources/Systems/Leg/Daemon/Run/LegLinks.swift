import Buses
import BusesLinux
import Leg
import Service
import Tactus
import TactusDaemon

/// The links to the legs: a UDP socket for each leg, and a Bluetooth radio and a serial line for leg 0.
struct LegLinks {
  private let sockets: [DatagramPart]
  private let radio: RadioPart?
  private let line: LinePart?
  private let frames: (() -> DatagramPort)?
  /// The links as shown in documents and metrics.
  let ways: LegWays

  init(_ bench: Bench<Legs.Wiring>) throws {
    let wiring = bench.wiring
    let radio =
      wiring.hasBluetooth
      ? try bench.peripheral(
        .framed, name: "LegCtrl", adapter: wiring.bluetoothAdapter, at: \.hasBluetooth, staysReal: true) : nil
    let line = try wiring.serialPath.map {
      try bench.line(\.serialPath, device: $0, baud: wiring.serialBaudRate, staysReal: true)
    }
    sockets = try wiring.legs.indices.map { try bench.datagrams(\.port, plus: $0) }
    (self.radio, self.line) = (radio, line)
    var others: [LegWays.Other] = []
    if let radio { others.append((.bluetooth, radio.report)) }
    if let line {
      let link = LegSerialLink(line.port())
      line.watch = LinePart.Watch(isGone: { link.counters.isGone }, isBack: { link.isBack() })
      frames = bench.impaired("serial", of: line) { link.port(descriptor: line.descriptor) }
      let report = line.report
      others.append(
        (.serial, { report().losing(UInt64(clamping: link.counters.refused)) }))
    } else {
      frames = nil
    }
    ways = LegWays(ports: sockets.map(\.endpoint.port), others: others)
  }

  var loopInputs: [LoopInput] {
    sockets.map(\.loopInput) + (radio.map { [$0.loopInput] } ?? []) + (line?.loopInputs ?? [])
  }

  /// Returns the ports for the one loop that owns them.
  func ports() -> LegPorts {
    var ports = LegPorts()
    for socket in sockets { ports.append(socket.port()) }
    if let radio { ports.append(.bluetooth, radio.port(), control: radio.control(), of: 0) }
    if let frames { ports.append(.serial, frames(), of: 0) }
    return ports
  }
}

/// The links to the legs as shown in documents and metrics. Any thread may use this.
struct LegWays: Sendable {
  typealias Other = (kind: LegWay.Kind, report: @Sendable () -> LinkReport)

  /// The UDP ports in effect, in the order of the legs.
  let ports: [UInt16]
  /// The further links of leg 0.
  let others: [Other]
  /// The service's clients that send frames to legs.
  let clients = LegClients()

  /// Returns the links to a leg: its UDP port, its further links and the service's WebSocket.
  func ways(of leg: Int, in newest: LegSnapshot) -> [LegWay] {
    let found = (0..<newest.linkCount).map { newest.link($0) }.filter { $0.leg == leg }
    func status(_ kind: LegWay.Kind) -> LegLinkStatus? { found.first { LegWay.Kind($0.kind) == kind } }
    let datagrams = LinkReport(
      .open, device: "port \(ports[leg])", peer: status(.udp)?.listener.map { "\($0)" })
    let others = leg == 0 ? self.others.map { ($0.kind, $0.report()) } : []
    return ([(.udp, datagrams)] + others).map { kind, report in
      LegWay(kind: kind, report: report, traffic: LegTraffic(status(kind), lost: report.lost))
    } + [clients.way(to: leg)]
  }
}

/// One link to a leg: its kind, its peer and the frames that it has carried since the start.
struct LegWay: Sendable {
  enum Kind: String, Word {
    case udp, bluetooth, serial, websocket

    init(_ kind: LegLinkKind) {
      self =
        switch kind {
        case .datagrams: .udp
        case .serial: .serial
        case .bluetooth: .bluetooth
        }
    }
  }

  let kind: Kind
  let report: LinkReport
  let traffic: LegTraffic

  @DeclarationBuilder<Field<LegWay>> static var fields: [Field<LegWay>] {
    Field("kind", \.kind, metric: .none, "What it is.")
    Field(
      "state", \.report.state, metric: .none,
      "Bluetooth: all but the last two; serial: `open` or `gone`; UDP: `open`; WebSocket: `open`, or `connected` once a client has sent the leg a frame."
    )
    Field("device", \.report.device, "`port 5010`, `hci0`, `/dev/ttyACM0`, `/ws`; null: not known.")
    Field(
      "peer", \.report.peer,
      "Who gets telemetry by it: who is connected, who sent the last datagram of the last minute; null: nobody.")
    Field("reason", \.report.reason, "Why it does not work, and how to mend it; null: it works.")
    Field("framesReceived", \.traffic.received, kind: .counter, metric: .none, "Since the start, whatever they were.")
    Field("framesMalformed", \.traffic.malformed, kind: .counter, metric: .none, "Those that were no command.")
    Field(
      "framesLost", \.traffic.lost, kind: .counter, metric: .none,
      "Came and never reached the leg: noise on a serial line, the loop was behind.")
    Field("framesSent", \.traffic.sent, kind: .counter, metric: .none, "Telemetry sent.")
    Field(
      "sendFailures", \.traffic.sendFailures, kind: .counter, metric: .none, "Telemetry frames that were not taken.")
  }
}

/// Counts of the frames on one link to a leg since the start.
struct LegTraffic: Sendable {
  /// The number of frames received, valid or not.
  var received: Int64 = 0
  /// The number of frames that could not be decoded as a command.
  var malformed: Int64 = 0
  /// The number of frames that were received but never reached the leg.
  var lost: Int64 = 0
  /// The number of telemetry frames sent.
  var sent: Int64 = 0
  /// The number of telemetry frames that were not accepted for sending.
  var sendFailures: Int64 = 0

  init() {}

  /// Takes the counts from the status of a link.
  ///
  /// - Parameter link: the status of the link, or `nil` if the loop has not ticked yet.
  init(_ link: LegLinkStatus?, lost: UInt64) {
    if let link {
      (received, malformed, sent, sendFailures) = (link.received, link.malformed, link.sent, link.sendFailures)
    }
    self.lost = Int64(clamping: lost)
  }
}
