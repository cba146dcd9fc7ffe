import Buses
import Tactus
import TestSupport
import Testing
import Wire

@testable import Leg

/// The operator side on a link that knows connections.
@Suite(.ownThread) struct LegOperatorLinkTests {
  final class Bench {
    let link = try! MessageLink()
    var leg: LinkDriver
    private let pulse = Latest(PulseWidth.middle)
    private let requests = Ring<LegOperatorRequest>(capacity: 16)
    private let output = Latest(LegOperatorSnapshot())
    private var requestWriter: RingWriter<LegOperatorRequest>
    private var reader: LatestReader<LegOperatorSnapshot>
    private var loop: LegOperatorLoop

    init() {
      leg = link.driver()
      requestWriter = requests.writer()
      reader = output.reader()
      loop = LegOperatorLoop(
        port: link.port(), control: link.control(), leg: MessageLink.peer, pulse: pulse.reader(),
        requests: requests.reader(), snapshot: output.writer())
    }

    var snapshot: LegOperatorSnapshot { reader.read() }

    func tick(_ milliseconds: Int64, _ cause: ReleaseCause = .period) {
      let now = TickInstant.milliseconds(milliseconds)
      loop.tick(Tick(index: 0, cause: cause, scheduled: now, started: now))
    }

    func ask(_ request: LegOperatorRequest) { _ = requestWriter.push(request) }

    func tell(_ state: LegTelemetry.State) {
      let telemetry = LegTelemetry(state: state, error: .none, lastCommandAgeMilliseconds: 0, battery: Millivolts(0))
      var bytes = [UInt8](repeating: 0, count: LegTelemetry.encodedLength)
      _ = bytes.withUnsafeMutableBytes { telemetry.encode(into: $0) }
      #expect(bytes.withUnsafeBytes { leg.deliver($0) })
    }

    /// Types of the frames sent since the last call.
    func sent() -> [UInt8] {
      var types: [UInt8] = []
      while let message = leg.takeMessage() { types.append(message[1]) }
      return types
    }
  }

  @Test("not connected: a connection is asked for at once, then after 0.5, 1, 2, 4 and every 5 s; nothing is sent")
  func asks() {
    let bench = Bench()
    var asked: [Int64] = []
    for time in stride(from: Int64(0), through: 18_000, by: 20) {
      bench.tick(time)
      if bench.leg.takeOrder() == .connect { asked.append(time) }
    }
    #expect(asked == [0, 500, 1500, 3500, 7500, 12_500, 17_500])
    #expect(bench.snapshot.sent == 0 && bench.snapshot.sendFailures == 0)
  }

  @Test(
    "driving, link lost: connecting in that release, a connection asked for at the next tick; back, nothing is armed")
  func lost() {
    let bench = Bench()
    bench.tick(0)
    bench.leg.up()
    bench.tell(.disarmed)
    bench.ask(.arm)
    bench.tick(20)
    bench.tell(.armed)
    bench.ask(.periodic(true))
    bench.tick(40)
    bench.tick(60)
    #expect(bench.sent() == [1, 3, 3])
    _ = bench.leg.takeOrder()
    bench.leg.down()
    bench.tick(65, .input)
    #expect(bench.snapshot.heard == nil)
    if case .connecting = bench.snapshot.state {} else { Issue.record("\(bench.snapshot.state)") }
    bench.tick(80)
    #expect(bench.leg.takeOrder() == .connect)
    bench.leg.up()
    bench.tell(.disarmed)
    for time in stride(from: Int64(100), through: 400, by: 20) {
      bench.tick(time)
      if time % 100 == 0 { bench.tell(.disarmed) }
    }
    let sent = bench.sent()
    #expect(bench.snapshot.state == .connected && !sent.isEmpty && sent.allSatisfy { $0 == 4 }, "\(sent)")
  }

  @Test("telemetry that was on its way when the link was lost does not count for the next connection")
  func lateTelemetry() {
    let bench = Bench()
    bench.tick(0)
    bench.leg.up()
    bench.tell(.armed)
    bench.leg.down()
    bench.leg.up()
    bench.tick(20)
    #expect(bench.snapshot.heard == nil && bench.snapshot.received == 0)
  }
}
