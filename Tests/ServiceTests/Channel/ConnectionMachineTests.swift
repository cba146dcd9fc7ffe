import NIOCore
import Testing

@testable import Service

@Suite("One connection's rules")
struct ConnectionMachineTests {
  private func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }

  /// A request whose head has come at 1 s and is with the responder, its body not whole.
  private func machineWithinBody() -> ConnectionMachine {
    var machine = ConnectionMachine(ConnectionLimits(), at: at(0))
    machine.bytesArrived(at: at(1_000))
    machine.headArrived(keepsAlive: true, at: at(1_000))
    machine.handedOver(isHead: false)
    return machine
  }

  @Test("a body that comes byte by byte: too slow 60 s after its head, however lately a byte came")
  func slowBody() {
    var machine = machineWithinBody()
    for second in 1...60 {
      machine.bytesArrived(at: at(Int64(second) * 1_000))
      let isTooSlow = machine.isTooSlow(at: at(Int64(second) * 1_000))
      #expect(!isTooSlow)
    }
    let check = machine.check(at: at(61_000), isWritable: true, waitingBytes: 0, isKnown: true)
    #expect(check == .bodyTooSlow)
    #expect(machine.refuse(.conflict("X", "x")) == .now)
  }

  @Test("a whole body: its answer may take as long as it takes, unless the client does not take what it is sent")
  func slowAnswer() {
    var machine = machineWithinBody()
    machine.endArrived()
    let isTooSlow = machine.isTooSlow(at: at(600_000))
    #expect(!isTooSlow)
    let checks: [(Int64, ConnectionMachine.Check)] = [(600_000, .wait(until: at(660_000))), (660_000, .close)]
    for (milliseconds, expected) in checks {
      let check = machine.check(at: at(milliseconds), isWritable: false, waitingBytes: 9, isKnown: true)
      #expect(check == expected)
    }
  }

  @Test("an answer that is read slowly: waited for while less of it waits each time, closed once as much does")
  func slowReader() {
    var machine = ConnectionMachine(ConnectionLimits(), at: at(0))
    machine.bytesArrived(at: at(0))
    machine.headArrived(keepsAlive: true, at: at(0))
    machine.endArrived()
    _ = machine.answered(at: at(0))
    for (second, bytes) in zip(stride(from: 10, through: 50, by: 10), [900, 800, 700, 600, 500]) {
      let (now, next) = (at(Int64(second) * 1000), at(Int64(second + 10) * 1000))
      let check = machine.check(at: now, isWritable: false, waitingBytes: bytes, isKnown: false)
      #expect(check == .wait(until: next))
    }
    let check = machine.check(at: at(60_000), isWritable: false, waitingBytes: 500, isKnown: false)
    #expect(check == .close)
  }

  @Test("a request that the responder has: no other is taken until it is answered, but the rest of its body is")
  func oneAtATime() {
    var machine = machineWithinBody()
    #expect(machine.mayTakeMore)
    machine.endArrived()
    #expect(!machine.mayTakeMore)
    machine.answerBegan()
    _ = machine.answerEnded(at: at(2_000))
    #expect(machine.mayTakeMore)
  }
}

extension ConnectionMachine {
  /// Of a client that takes what it is sent.
  fileprivate mutating func isTooSlow(at now: NIODeadline) -> Bool {
    if case .wait = check(at: now, isWritable: true, waitingBytes: 0, isKnown: true) { false } else { true }
  }
}
