import Buses
import Synchronization
import Tactus
import TactusControl

/// The board and its motor: 25 rad/s a volt, with a lag of 60 ms.
///
/// Attach `device` to a `SimulatedSerialPort`, which keeps the simulator. `block` and `voltage` are for any thread.
public final class SimulatedMotorBoard: @unchecked Sendable {
  // Safe: what threads share is atomic, the rest is the loop's.
  struct State: ~Copyable {
    let isBlocked = Atomic(false), millivolts = Atomic(0)
    var voltage = 0.0, speed = 0.0, angle = 0.0
    var stepsTold = 0
    var now: Int64?
  }
  private let state: UnsafeMutablePointer<State>

  public init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  public var device: SimulatedSerialDevice {
    SimulatedSerialDevice(context: state, owner: self, serve: serveMotorBoard)
  }

  /// A fault to inject: somebody holds the shaft, or lets it go.
  public func block(_ isBlocked: Bool) { state.pointee.isBlocked.store(isBlocked, ordering: .relaxed) }

  /// What the board was last told, V.
  public var voltage: Double { Double(state.pointee.millivolts.load(ordering: .relaxed)) / 1_000 }
}

extension SimulatedMotorBoard.State {
  @_noLocks @_noAllocation
  mutating func serve(_ line: SimulatedSerialDevice.Line, at instant: Int64) {
    advance(by: Double(instant - (now ?? instant)) / 1e9)
    now = instant
    while let byte = line.read() {
      voltage = Double(Int8(bitPattern: byte)) / 127 * SpeedController.supply
      millivolts.store(Math.integer(voltage * 1_000) ?? 0, ordering: .relaxed)
      // What does not fit into one answer is told with the next.
      let steps = Int8(clamping: (Math.integer(angle / (2 * .pi) * 1_024) ?? 0) - stepsTold)
      stepsTold += Int(steps)
      line.write(UInt8(bitPattern: steps))
    }
  }

  /// The exact solution of the lag under a constant voltage.
  @_noLocks @_noAllocation
  private mutating func advance(by seconds: Double) {
    let final = isBlocked.load(ordering: .relaxed) ? 0 : 25 * voltage
    if isBlocked.load(ordering: .relaxed) { speed = 0 }
    let decay = Math.exp(-seconds / 0.06)
    angle += final * seconds + (speed - final) * 0.06 * (1 - decay)
    speed = final + (speed - final) * decay
  }
}

@_noLocks @_noAllocation
private func serveMotorBoard(_ context: UnsafeMutableRawPointer, _ line: UnsafeMutableRawPointer, _ now: Int64) {
  context.assumingMemoryBound(to: SimulatedMotorBoard.State.self).pointee
    .serve(line.assumingMemoryBound(to: SimulatedSerialDevice.Line.self).pointee, at: now)
}
