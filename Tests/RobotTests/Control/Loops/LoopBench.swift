import Buses
import Devices
import Tactus
import Testing

@testable import Robot

/// A `RobotLoop` ticked by hand, with senders on a simulated network without delay.
final class LoopBench {
  static let robot = Endpoint.ipv4(10, 0, 0, 1, port: 5005)
  static let phone = Endpoint.ipv4(10, 0, 0, 2, port: 50_000)
  static let script = Endpoint.ipv4(10, 0, 0, 3, port: 50_000)

  let network = SimulatedNetwork([robot, phone, script], capacity: 1_024)
  let board = YBPcbCarSimulator()
  let bus = SimulatedI2CBus()
  let settings: RulesBox<RobotSettings>
  let client: RobotLoop.Client
  private var loop: RobotLoop
  private var seen: Int64 = 0
  private var index: Int64 = 0

  init(_ initial: RobotSettings = .unramped, afterOutsideStop: Bool = false) {
    let mailbox = try! RobotLoop.Mailbox(state: RobotSnapshot(initial), rules: initial, answers: 4, notices: 64)
    settings = mailbox.rules
    client = mailbox.client()
    bus.attach(board.chip, at: YBPcbCar.standardAddress)
    loop = RobotLoop(
      ends: mailbox.loopEnds(), motors: Motors(YBPcbCar(), on: bus.port()), port: network.port(Self.robot),
      afterOutsideStop: afterOutsideStop)
  }

  func send(_ text: String, from sender: Endpoint = LoopBench.phone, at milliseconds: Int64) {
    var port = network.port(sender)
    port.now = .milliseconds(milliseconds)
    Array(text.utf8).withUnsafeBytes { _ = port.send($0, to: Self.robot) }
  }

  /// Pushes a request made at `milliseconds`, numbered by hand.
  func request(_ number: UInt64, _ order: RobotOrder, client: UInt32 = 7, at milliseconds: Int64) {
    precondition(
      self.client.send(
        Request(
          number: number, issued: .milliseconds(milliseconds), makesSafe: order.isStop, client: client, order: order)))
  }

  func takeAnswers() -> [Answer<IgnoreReason>] { client.takeAnswers() }

  func tick(_ milliseconds: Int64, _ cause: ReleaseCause = .period) { tick(.milliseconds(milliseconds), cause) }

  func tick(_ instant: TickInstant, _ cause: ReleaseCause = .period) {
    if cause == .period { index += 1 }
    loop.tick(Tick(index: index, cause: cause, scheduled: instant, started: instant))
  }

  /// A stick that is held: the same command every 50 ms, and a tick for each.
  func hold(from first: Int64, through last: Int64) {
    for time in stride(from: first, through: last, by: 50) {
      send(#"{"left":60,"right":60}"#, at: time)
      tick(time)
    }
  }

  func safeState(_ milliseconds: Int64, _ cause: SafeStateCause) {
    let instant = TickInstant.milliseconds(milliseconds)
    loop.safeState(Tick(index: index, scheduled: instant, started: instant), cause: cause)
  }

  var deadline: TickInstant? { loop.nextDeadline }
  var published: Published<RobotSnapshot> { client.newest() }
  var snapshot: RobotSnapshot { published.state }

  /// The bus since the last call: `stop`, `run L R` in duties, with `!` when it failed.
  func writes() -> [String] {
    let new = bus.transactions(since: seen)
    seen = (new.last?.sequence ?? seen - 1) + 1
    return new.map { transaction in
      let failed = transaction.result < 0 ? "!" : ""
      if transaction.register == 2 { return "stop\(failed)" }
      let bytes = transaction.bytes
      let left = Int(bytes[1]) * (bytes[0] == 1 ? 1 : -1)
      let right = Int(bytes[3]) * (bytes[2] == 1 ? 1 : -1)
      return "run \(left) \(right)\(failed)"
    }
  }

  /// What the robot sent to `sender`.
  func replies(to sender: Endpoint = LoopBench.phone, at milliseconds: Int64) -> [String] {
    var port = network.port(sender)
    port.now = .milliseconds(milliseconds)
    var batch = DatagramBatch()
    _ = port.receive(into: &batch)
    return (0..<batch.count).map { String(decoding: batch.bytes($0)!, as: UTF8.self) }
  }

  func takeNotices() -> [String] {
    var texts: [String] = []
    while let notice = client.nextNotice() {
      switch notice.notice {
      case .state(let state): texts.append("\(state)")
      case .motorsFail(let failure): texts.append("motors fail: \(failure)")
      case .batteryLow(let percent): texts.append("battery low: \(percent) %")
      case .motorsAnswer: texts.append("motors answer")
      }
    }
    return texts
  }
}
